// Model: the order in which a model is planned and loaded. Thread rule and flow: see model.h.
#include "model/model.h"

#include <algorithm>
#include <set>

#include "host/isa.h"
#include "host/memory.h"
#include "model/probe.h"
#include "model/selection.h"

namespace mortise {

Model::Model(Parts& parts, const Pipeline& pipeline, const OpenModel& open, Log& log, uint32_t workers)
    : parts_(parts), pipeline_(pipeline), open_(open), log_(log), workers_(workers) {}

Result<std::unique_ptr<Model>> Model::plan(Parts& parts, const Pipeline& pipeline, const OpenModel& open,
                                           Log& log, uint32_t workers) {
  std::unique_ptr<Model> out(new Model(parts, pipeline, open, log, workers));
  MORTISE_TRY(formats, parts.all("format"));
  MORTISE_TRY(linear, parts.all("linear"));
  MORTISE_TRY(ops, parts.all("ops"));
  out->formats_ = std::make_unique<Formats>(std::move(formats));
  out->chooser_ = std::make_unique<Chooser>(pipeline, std::move(linear), std::move(ops), isa_features());
  MORTISE_CHECK(out->chooser_->check_filters(out->formats_->names()));
  MORTISE_CHECK(out->build_graph());
  MORTISE_CHECK(out->choose_kernels());
  out->warn_of_idle_pins();
  MORTISE_CHECK(out->size_context());
  MORTISE_CHECK(out->size_kv());
  MORTISE_CHECK(out->make_program());
  return out;
}

Result<void> Model::build_graph() {
  MORTISE_TRY(arch, select_arch(parts_, pipeline_, open_));
  std::set<std::string, std::less<>> seen;
  BuilderHooks hooks;
  hooks.tensor = [&](std::string_view name) { return open_.tensor(name); };
  hooks.format = [&](const mortise_tensor& tensor) -> Result<const mortise_format*> {
    MORTISE_TRY(format, formats_->of(tensor, open_.path()));
    return &format->table<mortise_format>();
  };
  hooks.values = [&](const mortise_tensor& tensor) -> Result<std::vector<float>> {
    if (open_.has_data()) return formats_->values(open_, tensor);
    // Only the header is here: what depends on values does not change any size.
    MORTISE_TRY(format, formats_->of(tensor, open_.path()));
    static_cast<void>(format);
    uint64_t count = 1;
    for (uint32_t d = 0; d < tensor.rank; ++d) count *= tensor.shape[d];
    return std::vector<float>(count, 1.0f);
  };
  hooks.op = [&](const mortise_op_desc& desc) -> Result<BuilderHooks::Op> {
    MORTISE_TRY(choice, chooser_->op(desc.op));
    const Provider& p = chooser_->ops_providers()[choice.provider];
    if (seen.emplace(desc.op).second) parts_.rows.push_back({"ops", desc.op, p.name, choice.why});
    BuilderHooks::Op out{choice.provider, choice.claim, 0};
    mortise_error error = c_error();
    const mortise_status status =
        p.table<mortise_ops>().infer(p.self, choice.claim, &desc, &out.cols, &error);
    return status == MORTISE_OK ? Result<BuilderHooks::Op>(out) : pass(from_c(status, error));
  };
  GraphBuilder builder(std::move(hooks));
  mortise_error error = c_error();
  const mortise_status status =
      arch->table<mortise_arch>().build(arch->self, &open_.c(), &builder.c(), &error);
  // The builder's own first error says more than what the plugin made of the zeros that followed.
  Result<Graph> graph = builder.finish();
  if (!graph && (status == MORTISE_OK || graph.error().code != Code::internal)) {
    Error e = graph.error();
    return fail(e.code, e.code == Code::bad_argument ? e.where : open_.path() + ": " + e.where, e.message);
  }
  if (status != MORTISE_OK) {
    Error e = from_c(status, error);
    return fail(e.code, e.where.empty() ? open_.path() : open_.path() + ": " + e.where, e.message, e.offset);
  }
  graph_ = std::move(*graph);
  return {};
}

Result<void> Model::choose_kernels() {
  MORTISE_TRY(weights, Weights::choose(graph_, open_, *formats_, *chooser_));
  weights_ = std::move(weights);
  return {};
}

/// A pin of single tensors that meets none is a misspelt pattern, or meant for another model.
void Model::warn_of_idle_pins() {
  const auto meets = [](const Pin& pin, const Weight& w) {
    return w.is_packed() &&
           pin_matches(pin, without_revision(w.desc.tensor->format), view(w.desc.tensor->name));
  };
  for (const Pin& pin : pipeline_.kernels.pin) {
    const auto& list = weights_->list();
    if (!pin.tensor.empty() &&
        std::none_of(list.begin(), list.end(), [&](const Weight& w) { return meets(pin, w); }))
      warnings_.push_back("the pin '" + pin.text() + "' meets no weight of this model");
  }
}

Result<void> Model::size_context() {
  const uint32_t trained = graph_.info.context;
  limits_.context = trained;
  if (pipeline_.model.context) {
    limits_.context = static_cast<uint32_t>(std::min<int64_t>(pipeline_.model.context->value, kContextMax));
    if (limits_.context > trained && trained != 0)
      warnings_.push_back(
          "model.context = " + std::to_string(limits_.context) + " is more than the " +
          std::to_string(trained) +
          " tokens that the model was trained for, and no RoPE scaling covers it; answers get worse");
  }
  if (limits_.context == 0)
    return fail(Code::bad_argument, pipeline_.source,
                "model.context: the model does not say what it was trained for; set it");
  limits_.context = std::min(limits_.context, kContextMax);
  if (graph_.positions != 0 && limits_.context > graph_.positions) {
    warnings_.push_back("a context of " + std::to_string(limits_.context) + " tokens is cut to " +
                        std::to_string(graph_.positions) +
                        ": the model has a table of positions, and no more rows in it");
    limits_.context = static_cast<uint32_t>(graph_.positions);
  }
  limits_.rows = static_cast<uint32_t>(pipeline_.engine.max_batch_tokens.value);
  limits_.sequences = std::min(static_cast<uint32_t>(pipeline_.engine.max_sequences.value), limits_.rows);
  limits_.wanted = std::min(limits_.rows, kWantedRowsMax);
  return {};
}

Result<void> Model::size_kv() {
  MORTISE_TRY(provider, select_attention(parts_, pipeline_));
  MORTISE_TRY(attention, choose_layout(*provider, graph_, pipeline_));
  attention_ = attention;
  kv_ = KvStore::plan(graph_, attention_);
  const KvMemory& memory = pipeline_.kv.memory;
  const uint64_t bytes =
      memory.percent > 0
          ? static_cast<uint64_t>(static_cast<double>(free_memory_bytes()) * memory.percent / 100)
          : memory.bytes;
  const uint64_t block = std::max<uint64_t>(kv_.block_bytes(), 1);
  kv_blocks_ = std::min(bytes / block, kKvBlocksMax);
  if (kv_blocks_ == 0)
    return fail(Code::bad_argument, pipeline_.kv.memory.where,
                "kv.memory: " + std::to_string(bytes) + " bytes hold no block of " +
                    std::to_string(MORTISE_KV_BLOCK_TOKENS) + " tokens, which takes " +
                    std::to_string(block) + " bytes; raise it");
  const uint64_t tokens = kv_blocks_ * MORTISE_KV_BLOCK_TOKENS;
  if (tokens < limits_.context)
    warnings_.push_back("kv.memory holds " + std::to_string(tokens) + " tokens, less than one context of " +
                        std::to_string(limits_.context) + "; longer requests are refused or end early");
  return {};
}

Result<void> Model::make_program() {
  MORTISE_TRY(program, Program::make(graph_, *weights_, *chooser_, attention_, limits_, workers_));
  program_ = std::move(program);
  return {};
}

Result<void> Model::load(Pool& pool, const std::function<void(uint64_t)>& progress) {
  // A kernel that the probe drops leaves the choice to the next one, which is probed in turn.
  for (;;) {
    MORTISE_TRY(dropped, probe_weights(*weights_, open_, chooser_.get(), &log_));
    if (!dropped) break;
    program_.reset();
    MORTISE_CHECK(choose_kernels());
    MORTISE_CHECK(make_program());
  }
  MORTISE_CHECK(weights_->pack(open_, pool, progress));
  MORTISE_CHECK(program_->allocate());
  return kv_.allocate(kv_blocks_);
}

uint64_t Model::weights_bytes() const {
  uint64_t sum = weights_->packed_bytes();
  for (const std::vector<float>& v : graph_.vectors) sum += v.size() * sizeof(float);
  for (const Weight& w : weights_->list())
    for (uint32_t p = 0; !w.is_packed() && p < w.desc.tensor->plane_count; ++p)
      sum += w.desc.tensor->planes[p]->length;
  return sum;
}

bool Model::is_batch_invariant() const {
  bool out = attention_.layout->batch_invariant != 0;
  for (const Weight& w : weights_->list()) out = out && (!w.is_packed() || w.claim->batch_invariant != 0);
  for (const Node& node : graph_.nodes)
    if (node.kind == NodeKind::op) {
      const Provider& p = chooser_->ops_providers()[node.provider];
      uint32_t count = 0;
      out = out && p.table<mortise_ops>().claims(p.self, &count)[node.claim]->batch_invariant != 0;
    }
  return out;
}

}  // namespace mortise
