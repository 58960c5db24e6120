// Measuring.
// Thread rule: see measure.h. Flow: see measure.h.
#include "measure.h"

#include <algorithm>

#include "json/json.h"

namespace mortise::bench {
namespace {

// A chain without samplers knows no temperature; it is then left out.
constexpr uint32_t kFlags = MORTISE_REQUEST_NO_CACHE | MORTISE_REQUEST_WAIT | MORTISE_REQUEST_IGNORE_UNKNOWN;

std::string parameters(uint64_t max_tokens) {
  return "{\"max_tokens\":" + std::to_string(max_tokens) + ",\"ignore_eos\":true,\"temperature\":0}";
}

}  // namespace

Bench::Bench(client::Channel& channel, const mortise_engine* engine, const client::Control& control)
    : channel_(channel), engine_(engine), control_(control) {
  info_.size = sizeof(info_);
  engine_->info(engine_->ctx, &info_);
}

Result<void> Bench::check(const Spec& spec) const {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::bad_argument, "plugin.bench.tests", "'" + spec.name + "' " + why);
  };
  if (spec.sequences > info_.max_sequences)
    return refuse("runs " + std::to_string(spec.sequences) + " sequences at once, the pipeline " +
                  std::to_string(info_.max_sequences) + "; raise engine.max_sequences");
  uint64_t needed = spec.depth + spec.tokens + 2;
  if (spec.kind == Spec::Kind::decode) needed += lead_tokens(spec);
  if (needed > info_.context)
    return refuse("needs a context of " + std::to_string(needed) + " tokens, the pipeline has " +
                  std::to_string(info_.context) + "; raise model.context");
  return {};
}

Result<void> Bench::warm_up(const Spec& spec) {
  constexpr uint64_t kPrefillTokens = 64, kSteps = 4;
  Spec small = spec;
  small.depth = 0;
  small.tokens = std::min(spec.tokens, spec.kind == Spec::Kind::prefill ? kPrefillTokens : kSteps);
  MORTISE_TRY(round, measure(small));
  (void)round;
  return {};
}

Result<Round> Bench::measure(const Spec& spec) {
  return spec.kind == Spec::Kind::prefill ? prefill(spec) : decode(spec);
}

Result<Round> Bench::prefill(const Spec& spec) {
  // Without the prefix cache the D tokens before cannot be had for nothing: they are timed and taken off.
  MORTISE_TRY(whole_ns, prefill_ns(spec.depth + spec.tokens));
  uint64_t before_ns = 0;
  if (spec.depth > 0) {
    MORTISE_TRY(depth_ns, prefill_ns(spec.depth));
    before_ns = depth_ns;
  }
  const uint64_t ns = whole_ns > before_ns ? whole_ns - before_ns : 1;
  return Round{spec.tokens, static_cast<double>(ns) / 1e9};
}

Result<uint64_t> Bench::prefill_ns(uint64_t tokens) {
  MORTISE_TRY(id, submit(tokens, 1));
  MORTISE_TRY(event, wait_for(id));
  return event.first_token_ns - event.submitted_ns;
}

/// Sequences begin one after another, as their prompts are read. The clock runs from the last one's first
/// token to its last, so all others must go on until then: this many tokens may they be ahead at most.
uint64_t Bench::lead_tokens(const Spec& spec) const {
  if (spec.sequences == 1) return 0;
  const uint64_t prompt = std::max<uint64_t>(spec.depth, 1);
  const uint64_t free = info_.max_batch_tokens > spec.sequences ? info_.max_batch_tokens - spec.sequences : 1;
  return spec.sequences + (spec.sequences * prompt + free - 1) / free;
}

Result<Round> Bench::decode(const Spec& spec) {
  const uint64_t prompt = std::max<uint64_t>(spec.depth, 1);
  uint64_t last = 0;
  for (uint64_t i = 1; i <= spec.sequences; ++i) {
    const uint64_t lead = i == spec.sequences ? 0 : lead_tokens(spec);
    MORTISE_TRY(id, submit(prompt, spec.tokens + 1 + lead));
    last = id;
  }
  MORTISE_TRY(event, wait_for(last));
  if (event.completion_tokens != spec.tokens + 1)
    return fail(Code::internal, "",
                "'" + spec.name + "' got " + std::to_string(event.completion_tokens) + " tokens instead of " +
                    std::to_string(spec.tokens + 1));
  const uint64_t ns = event.finished_ns - event.first_token_ns;
  MORTISE_CHECK(cancel_all());
  return Round{spec.tokens * spec.sequences, static_cast<double>(std::max<uint64_t>(ns, 1)) / 1e9};
}

Result<uint64_t> Bench::submit(uint64_t prompt_tokens, uint64_t max_tokens) {
  std::vector<uint32_t> prompt(prompt_tokens);
  for (uint32_t& token :
       prompt) {  // xorshift64: fixed, so that runs compare, and without repeats to profit from
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    token = static_cast<uint32_t>(random_ % std::max<uint32_t>(info_.vocab, 1));
  }
  MORTISE_TRY(id, channel_.submit(prompt, parameters(max_tokens), kFlags));
  open_.push_back(id);
  return id;
}

Result<mortise_event> Bench::wait_for(uint64_t wanted) {
  constexpr int kLookMs = 100;  // how soon a stop is noticed
  while (!control_.draining()) {
    const mortise_event* event = channel_.next(kLookMs);
    if (event == nullptr && channel_.closed()) break;
    if (event == nullptr || event->type == MORTISE_EVENT_DELTA) continue;
    open_.erase(std::remove(open_.begin(), open_.end(), event->request), open_.end());
    if (event->type == MORTISE_EVENT_ERROR) return pass(client::event_error(*event));
    if (event->request == wanted) return *event;
  }
  return fail(Code::cancelled, "", "the measurement was interrupted");
}

Result<void> Bench::cancel_all() {
  for (const uint64_t id : open_) channel_.cancel(id);
  while (!open_.empty()) {
    const Result<mortise_event> ended = wait_for(open_.back());
    if (!ended) return pass(ended.error());
  }
  return {};
}

}  // namespace mortise::bench
