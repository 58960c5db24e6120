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

  static mortise_status score_begin(void* ctx, const uint32_t* tokens, uint64_t count, void** score,
                                    mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(open, self(ctx).begin_score({tokens, tokens + count}));
      *score = open.release();
      return {};
    });
  }

  static mortise_status score_next(void* ctx, void* score, int32_t timeout_ms, mortise_score_rows* rows,
                                   mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(got, static_cast<OpenScore*>(score)->score->next(timeout_ms));
      *rows = {sizeof(mortise_score_rows), got.count, got.position, got.logits};
      if (got.count > 0) self(ctx).engine_.wake();
      return {};
    });
  }

  static void score_end(void* ctx, void* score) {
    const std::unique_ptr<OpenScore> open(static_cast<OpenScore*>(score));
    self(ctx).engine_.cancel(open->id);
  }

  static void collect(void* ctx, int32_t on) { self(ctx).sums_.collect(on != 0); }

  static mortise_status activations(void* ctx, mortise_str tensor, uint64_t slice, uint64_t columns,
                                    double* squares, double* magnitudes, uint64_t* rows,
                                    mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(count, self(ctx).sums_.read(view(tensor), slice, columns, squares, magnitudes));
      *rows = count;
      return {};
    });
  }
};

Result<std::unique_ptr<EngineService::OpenScore>> EngineService::begin_score(std::vector<uint32_t> tokens) {
  ++open_scores_;
  auto open = std::make_unique<OpenScore>(open_scores_);
  if (open_scores_ > kScoresMax)
    return fail(Code::limit, "scores",
                std::to_string(kScoresMax) + " are open already, and each holds logits; end one first");
  open->score = std::make_shared<Score>(tokens.size(), facts_.vocab);
  MORTISE_TRY(id, engine_.submit_score(open->score, std::move(tokens)));
  open->id = id;
  return open;
}

EngineService::EngineService(Engine& engine, const RequestParams& params, ActivationSums& sums,
                             EngineFacts facts)
    : engine_(engine), params_(params), sums_(sums), facts_(std::move(facts)) {
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
            &Calls::parameters,
            &Calls::score_begin,
            &Calls::score_next,
            &Calls::score_end,
            &Calls::collect,
            &Calls::activations};
}

}  // namespace mortise
