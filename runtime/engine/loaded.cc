// Loaded: the order of loading. Thread rule and flow: see loaded.h.
#include "engine/loaded.h"

#include <filesystem>

#include "host/progress.h"
#include "model/selection.h"

namespace mortise {

Result<void> Loaded::prepare(const std::vector<std::string>& plugin_folders) {
  MORTISE_TRY(made_pool, Pool::make(static_cast<uint32_t>(pipeline.engine.threads.value)));
  pool = std::move(made_pool);
  MORTISE_TRY(made_parts, Parts::make(pipeline, plugin_folders, log, *pool, files));
  parts = std::move(made_parts);
  return {};
}

Result<void> Loaded::plan(uint32_t what, bool header_only) {
  needs = what;
  if (needs == MORTISE_NEEDS_NONE) return {};
  MORTISE_TRY(opened, open_model(*parts, pipeline, files, header_only));
  open = std::move(opened);
  if (needs >= MORTISE_NEEDS_TEXT) MORTISE_CHECK(choose_text());
  if (needs < MORTISE_NEEDS_ENGINE) return {};
  MORTISE_CHECK(choose_samplers());
  MORTISE_TRY(planned, Model::plan(*parts, pipeline, *open, log, pool->workers()));
  model = std::move(planned);
  return check_defaults();
}

/// A request that says nothing must be possible: what only the vocabulary or an item's type decides is found
/// here and not in every request.
Result<void> Loaded::check_defaults() {
  Request request;
  auto read = params->read("", false, links, model->graph().info.vocab, &request);
  if (read) return {};
  return fail(Code::bad_argument, pipeline.source,
              "defaults." + read.error().where + ": " + read.error().message);
}

Result<void> Loaded::choose_text() {
  MORTISE_TRY(selected, select_tokenizer(*parts, pipeline, *open));
  tokenizer = selected;
  if (tokenizer == nullptr) return {};
  std::string reason;
  MORTISE_TRY(selected_chat, select_chat(*parts, pipeline, *open, &reason));
  chat = selected_chat;
  no_chat = "the model has no usable chat template (" + reason +
            "); name one in the chat plugin's own table, or send a prompt instead of messages";
  return {};
}

Result<void> Loaded::choose_samplers() {
  MORTISE_TRY(samplers, select_samplers(*parts, pipeline));
  for (const Provider* p : samplers) links.push_back({*p, &p->table<mortise_sampler>(), parts->params(*p)});
  MORTISE_TRY(made, RequestParams::make(links, pipeline));
  params = std::make_unique<RequestParams>(std::move(made));
  return {};
}

Result<void> Loaded::load_model() {
  for (const std::string& warning : model->warnings()) log.warn(warning);
  Progress progress(log, "loading " + std::filesystem::path(open->path()).filename().string(),
                    model->weights().packed_bytes());
  return model->load(*pool, [&](uint64_t done) { progress.update(done); });
}

EngineFacts Loaded::facts() const {
  const std::filesystem::path path(open->path());
  return {model->context(),
          model->graph().info.vocab,
          model->limits().sequences,
          model->limits().rows,
          static_cast<uint32_t>(pipeline.engine.queue.value),
          (path.has_stem() ? path.stem() : path.parent_path().stem()).string(),
          open->path(),
          model->graph().family};
}

Result<void> Loaded::load() {
  if (tokenizer != nullptr) {
    MORTISE_TRY(made, TextService::make(*tokenizer, chat, no_chat, *open));
    text = std::move(made);
    if (params != nullptr) text->set_parse_special(params->default_parse_special());
  }
  return needs >= MORTISE_NEEDS_ENGINE ? start_engine() : Result<void>();
}

Result<void> Loaded::start_engine() {
  MORTISE_CHECK(load_model());
  const EngineFacts known = facts();
  blocks =
      std::make_unique<KvPool>(static_cast<uint32_t>(model->kv_blocks()), pipeline.kv.prefix_cache.value);
  const uint64_t kv_tokens = model->kv_blocks() * KvPool::kBlockTokens;
  // A sequence that fills the whole pool ends there, as it would at the end of the context.
  const auto longest = static_cast<uint32_t>(std::min<uint64_t>(known.context, kv_tokens));
  scheduler = std::make_unique<Scheduler>(
      model->program(), model->kv(), *blocks, *pool, links, text == nullptr ? PieceOf() : text->piece_of(),
      SchedulerLimits{known.max_sequences, known.max_batch_tokens, longest, known.vocab,
                      model->graph().info.rope_length_from, model->graph().info.rope_each_length != 0});
  engine = std::make_unique<Engine>(
      *scheduler, *blocks, *params, links,
      EngineLimits{known.queue, known.max_sequences, known.context, kv_tokens, known.vocab});
  service = std::make_unique<EngineService>(*engine, *params, model->program().activation_sums(), known);
  return {};
}

}  // namespace mortise
