// Session: the order of loading. Thread rule and flow: see session.h.
#include "engine/session.h"

#include <filesystem>
#include <memory>

#include "engine/engine_service.h"
#include "engine/frontends.h"
#include "engine/text_service.h"
#include "host/clock.h"
#include "host/progress.h"
#include "model/model.h"
#include "model/report.h"
#include "model/selection.h"

namespace mortise {
namespace {

/// What front ends can ask for, from the file up. Members are destroyed in reverse.
struct Session {
  const Pipeline& pipeline;
  Log& log;
  MappedFiles files;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Parts> parts;
  std::vector<const Provider*> frontends;
  uint32_t needs = MORTISE_NEEDS_NONE;
  std::unique_ptr<OpenModel> open;
  const Provider* tokenizer = nullptr;
  const Provider* chat = nullptr;
  std::string no_chat;
  std::unique_ptr<Model> model;
  std::unique_ptr<TextService> text;
  std::vector<SamplerLink> links;
  std::unique_ptr<RequestParams> params;
  std::unique_ptr<KvPool> blocks;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<EngineService> service;

  Session(const Pipeline& p, Log& l) : pipeline(p), log(l) {}

  Result<void> choose(const RunOptions& options, bool header_only);
  Result<void> choose_model(bool header_only);
  Result<void> choose_text();
  Result<void> choose_samplers();
  Result<void> check_defaults();
  Result<void> load_model();
  Result<void> start_engine();
  EngineFacts facts() const;
};

/// Everything that headers decide.
Result<void> Session::choose(const RunOptions& options, bool header_only) {
  MORTISE_TRY(made_pool, Pool::make(static_cast<uint32_t>(pipeline.engine.threads.value)));
  pool = std::move(made_pool);
  MORTISE_TRY(made_parts, Parts::make(pipeline, options.plugin_folders, log, *pool, files));
  parts = std::move(made_parts);
  MORTISE_TRY(chosen, select_frontends(*parts, pipeline));
  frontends = std::move(chosen);
  needs = frontend_needs(frontends);
  if (needs > MORTISE_NEEDS_NONE) MORTISE_CHECK(choose_model(header_only));
  return parts->check_tables();
}

Result<void> Session::choose_model(bool header_only) {
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
Result<void> Session::check_defaults() {
  Request request;
  auto read = params->read("", false, links, model->graph().info.vocab, &request);
  if (read) return {};
  return fail(Code::bad_argument, pipeline.source,
              "defaults." + read.error().where + ": " + read.error().message);
}

Result<void> Session::choose_text() {
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

Result<void> Session::choose_samplers() {
  MORTISE_TRY(samplers, select_samplers(*parts, pipeline));
  for (const Provider* p : samplers) links.push_back({*p, &p->table<mortise_sampler>(), parts->params(*p)});
  MORTISE_TRY(made, RequestParams::make(links, pipeline));
  params = std::make_unique<RequestParams>(std::move(made));
  return {};
}

Result<void> Session::load_model() {
  for (const std::string& warning : model->warnings()) log.warn(warning);
  Progress progress(log, "loading " + std::filesystem::path(open->path()).filename().string(),
                    model->weights().packed_bytes());
  return model->load(*pool, [&](uint64_t done) { progress.update(done); });
}

EngineFacts Session::facts() const {
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

Result<void> Session::start_engine() {
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
  service = std::make_unique<EngineService>(*engine, *params, known);
  return {};
}

}  // namespace

Result<void> run_pipeline(const Pipeline& pipeline, const RunOptions& options, Log& log) {
  Session session(pipeline, log);
  MORTISE_CHECK(session.choose(options, false));
  if (session.tokenizer != nullptr) {
    MORTISE_TRY(text, TextService::make(*session.tokenizer, session.chat, session.no_chat, *session.open));
    session.text = std::move(text);
  }
  if (session.needs >= MORTISE_NEEDS_ENGINE) MORTISE_CHECK(session.start_engine());
  std::vector<mortise_str> arguments;
  for (const std::string& argument : options.arguments) arguments.push_back(str(argument));
  const mortise_services services{sizeof(mortise_services),
                                  static_cast<uint32_t>(arguments.size()),
                                  arguments.data(),
                                  session.text == nullptr ? nullptr : &session.text->c(),
                                  session.service == nullptr ? nullptr : &session.service->c(),
                                  static_cast<double>(now_ns() - options.started_ns) * 1e-9};
  return run_frontends(session.frontends, services);
}

Result<std::string> explain_pipeline(const Pipeline& pipeline, const RunOptions& options, bool as_json,
                                     Log& log) {
  Session session(pipeline, log);
  MORTISE_CHECK(session.choose(options, true));
  Report report = make_report(*session.parts, session.model.get());
  if (session.open != nullptr && !session.open->has_data())
    report.warnings.push_back(session.open->path() + " ends after its header: only explain can use it");
  return as_json ? report_json(report) : report_text(report);
}

Result<std::string> pipeline_help(const Pipeline& pipeline, const RunOptions& options, Log& log) {
  Session session(pipeline, log);
  MORTISE_TRY(pool, Pool::make(1));
  session.pool = std::move(pool);
  MORTISE_TRY(parts, Parts::make(pipeline, options.plugin_folders, log, *session.pool, session.files));
  MORTISE_TRY(frontends, select_frontends(*parts, pipeline));
  MORTISE_TRY(samplers, select_samplers(*parts, pipeline));
  frontends.insert(frontends.end(), samplers.begin(), samplers.end());
  std::string out;
  const auto list = [&](const std::string& title, const Params& params) {
    const std::vector<std::string> lines = help_lines(params);
    if (!lines.empty()) out += title + "\n";
    for (const std::string& line : lines) out += "  " + line + "\n";
  };
  for (const Provider* p : frontends)
    list(std::string(p->part->kind) + " " + p->name + ": " + p->part->help, parts->params(*p));
  MORTISE_TRY(own, RequestParams::own());
  list("engine: what every request may say", own);
  return out;
}

}  // namespace mortise
