// Services: see services.h. A further model is a whole pipeline of its own: nothing is shared but the code.
#include "engine/services.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/clock.h"
#include "host/memory.h"

namespace mortise {
namespace {

double mebibytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// What the planned model takes at least, of KV a context's worth, must be free beside what is loaded.
Result<void> check_memory(const Loaded& loaded) {
  if (loaded.model == nullptr) return {};
  const Model& model = *loaded.model;
  const ProgramMemory& memory = model.memory();
  const uint64_t tokens = std::min<uint64_t>(model.kv_blocks() * MORTISE_KV_BLOCK_TOKENS,
                                             model.context() + MORTISE_KV_BLOCK_TOKENS);
  const uint64_t kv = tokens / MORTISE_KV_BLOCK_TOKENS * model.kv().block_bytes();
  const uint64_t need =
      model.weights_bytes() + kv + memory.activations_bytes + memory.logits_bytes + memory.workspace_bytes;
  const uint64_t free = free_memory_bytes();
  if (need <= free) return {};
  return fail(Code::no_memory, loaded.open->path(),
              fmt::format("takes {:.0f} MiB beside the model that is loaded, and {:.0f} MiB are free; lower "
                          "model.context, or use a machine with more memory",
                          mebibytes(need), mebibytes(free)));
}

}  // namespace

struct Services::Opened {
  Opened(Pipeline p, RunOptions o, Log& log)
      : pipeline(std::move(p)), options(std::move(o)), loaded(pipeline, log) {}

  const Pipeline pipeline;
  const RunOptions options;
  Loaded loaded;
  std::unique_ptr<Services> services;
};

struct Services::Calls {
  static Services& self(void* ctx) { return *static_cast<Services*>(ctx); }

  static mortise_status open(void* ctx, mortise_str model_path, const mortise_services** opened,
                             mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(made, self(ctx).open(view(model_path)));
      *opened = &made->services->c();
      const std::lock_guard lock(self(ctx).mutex_);
      self(ctx).opened_.push_back(std::move(made));
      return {};
    });
  }

  static void close(void* ctx, const mortise_services* opened) {
    Services& s = self(ctx);
    std::shared_ptr<Opened> ending;  // dies after the lock: that waits for an engine's thread
    const std::lock_guard lock(s.mutex_);
    const auto at = std::find_if(s.opened_.begin(), s.opened_.end(),
                                 [&](const auto& one) { return &one->services->c() == opened; });
    if (at == s.opened_.end()) return;
    ending = std::move(*at);
    s.opened_.erase(at);
  }
};

Services::Services(Loaded& loaded, const RunOptions& options) : loaded_(loaded), options_(options) {
  for (const std::string& argument : options.arguments) arguments_.push_back(str(argument));
}

Result<std::unique_ptr<Services>> Services::make(Loaded& loaded, const RunOptions& options) {
  std::unique_ptr<Services> out(new Services(loaded, options));
  if (loaded.open != nullptr) {
    MORTISE_TRY(model, ModelService::make(*loaded.open, *loaded.parts));
    out->model_ = std::move(model);
  }
  out->table_ = {sizeof(mortise_services),
                 static_cast<uint32_t>(out->arguments_.size()),
                 out->arguments_.data(),
                 loaded.text == nullptr ? nullptr : &loaded.text->c(),
                 loaded.service == nullptr ? nullptr : &loaded.service->c(),
                 static_cast<double>(now_ns() - options.started_ns) * 1e-9,
                 out->model_ == nullptr ? nullptr : &out->model_->c(),
                 out.get(),
                 &Calls::open,
                 &Calls::close};
  return out;
}

Result<std::shared_ptr<Services::Opened>> Services::open(std::string_view model_path) {
  Pipeline pipeline = loaded_.pipeline;
  pipeline.model.path.value = model_path;
  pipeline.use.erase("weights");
  auto out = std::make_shared<Opened>(std::move(pipeline), RunOptions{options_.plugin_folders, {}, now_ns()},
                                      loaded_.log);
  MORTISE_CHECK(out->loaded.prepare(out->options.plugin_folders));
  MORTISE_CHECK(out->loaded.plan(loaded_.needs, false));
  MORTISE_CHECK(check_memory(out->loaded));
  MORTISE_CHECK(out->loaded.load());
  MORTISE_TRY(services, make(out->loaded, out->options));
  out->services = std::move(services);
  return out;
}

}  // namespace mortise
