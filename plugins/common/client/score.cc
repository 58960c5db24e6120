// Rows out of chunks. Thread rule and flow: see score.h.
#include "client/score.h"

namespace mortise::client {

Result<std::unique_ptr<Score>> Score::begin(const mortise_engine* engine,
                                            const std::vector<uint32_t>& tokens) {
  mortise_engine_info info{};
  info.size = sizeof(info);
  engine->info(engine->ctx, &info);
  std::unique_ptr<Score> out(new Score(engine, tokens.size(), info.vocab));
  mortise_error error = c_error();
  const mortise_status status =
      engine->score_begin(engine->ctx, tokens.data(), tokens.size(), &out->score_, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return out;
}

Score::~Score() {
  if (score_ != nullptr) engine_->score_end(engine_->ctx, score_);
}

Result<const float*> Score::next(const Control& control) {
  constexpr int kLookMs = 100;  // how soon a stop is noticed
  if (left_ == 0) return fail(Code::internal, "engine", "was asked for more rows than there are tokens");
  while (taken_ == rows_.count) {
    if (control.draining()) return fail(Code::cancelled, "", "the measurement was interrupted");
    taken_ = 0;
    rows_ = {};
    rows_.size = sizeof(rows_);
    mortise_error error = c_error();
    const mortise_status status = engine_->score_next(engine_->ctx, score_, kLookMs, &rows_, &error);
    if (status != MORTISE_OK) return pass(from_c(status, error));
  }
  --left_;
  return rows_.logits + uint64_t{taken_++} * vocab_;
}

}  // namespace mortise::client
