// EngineService: see engine_service.h. A closed channel cancels what is still under way for it.
#include "engine/engine_service.h"

namespace mortise {

struct EngineService::Calls {
  static EngineService& self(void* ctx) { return *static_cast<EngineService*>(ctx); }

  static mortise_status open_channel(void*, void** channel, int32_t* event_fd, mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(made, Channel::make());
      if (event_fd != nullptr) *event_fd = made->event_fd();
      auto open = std::make_unique<Open>();
      open->channel = std::move(made);
      *channel = open.release();
      return {};
    });
  }

  static void close_channel(void* ctx, void* channel) {
    std::unique_ptr<Open> open(static_cast<Open*>(channel));
    open->channel->close();
    for (const auto& [id, is_live] : open->live)
      if (is_live) self(ctx).engine_.cancel(id);
  }

  static mortise_status submit(void* ctx, void* channel, const mortise_request* request, uint64_t* id,
                               mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      auto& open = *static_cast<Open*>(channel);
      std::vector<uint32_t> prompt(request->prompt, request->prompt + request->prompt_count);
      MORTISE_TRY(made, self(ctx).engine_.submit(open.channel, std::move(prompt), view(request->parameters),
                                                 request->flags));
      std::lock_guard lock(open.mutex);
      // Its terminal event may have been fetched already, by another thread: then next_event has left a mark.
      if (!open.live.try_emplace(made, true).second) open.live.erase(made);
      *id = made;
      return {};
    });
  }

  static void cancel(void* ctx, uint64_t id) { self(ctx).engine_.cancel(id); }

  static int32_t next_event(void*, void* channel, int32_t timeout_ms, mortise_event* event) {
    auto& open = *static_cast<Open*>(channel);
    const int32_t got = open.channel->next(timeout_ms, event);
    if (got == 1 && event->type != MORTISE_EVENT_DELTA) {
      std::lock_guard lock(open.mutex);
      if (open.live.erase(event->request) == 0) open.live[event->request] = false;
    }
    return got;
  }

  static void info(void* ctx, mortise_engine_info* out) {
    const EngineFacts& f = self(ctx).facts_;
    *out = {sizeof(mortise_engine_info),
            f.context,
            f.vocab,
            f.max_sequences,
            f.max_batch_tokens,
            f.queue,
            str(f.model),
            str(f.model_path),
            str(f.family)};
  }

  static void stats(void* ctx, mortise_engine_stats* out) { *out = self(ctx).engine_.stats(); }

  static const mortise_param* const* parameters(void* ctx, uint32_t* count) {
    const auto& declared = self(ctx).params_.declared();
    *count = static_cast<uint32_t>(declared.size());
    return declared.data();
  }
};

EngineService::EngineService(Engine& engine, const RequestParams& params, EngineFacts facts)
    : engine_(engine), params_(params), facts_(std::move(facts)) {
  table_ = {sizeof(mortise_engine),
            0,
            this,
            &Calls::open_channel,
            &Calls::close_channel,
            &Calls::submit,
            &Calls::cancel,
            &Calls::next_event,
            &Calls::info,
            &Calls::stats,
            &Calls::parameters};
}

}  // namespace mortise
