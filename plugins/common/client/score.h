// A score of the engine service with C++ types: the logits of every position of a sequence, in order.
// Thread rule: one thread. Flow: begin, then take row after row.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <memory>
#include <vector>

#include "client/streams.h"

namespace mortise::client {

class Score {
 public:
  static Result<std::unique_ptr<Score>> begin(const mortise_engine* engine,
                                              const std::vector<uint32_t>& tokens);
  ~Score();
  Score(const Score&) = delete;
  Score& operator=(const Score&) = delete;

  /// The logits [vocab] of the next position, which live until the next call. Waits for them; an error where
  /// they never come, and code cancelled where `control` drains.
  Result<const float*> next(const Control& control);

 private:
  Score(const mortise_engine* engine, uint64_t tokens, uint32_t vocab)
      : engine_(engine), left_(tokens), vocab_(vocab) {}

  const mortise_engine* engine_;
  uint64_t left_;  // rows that were not taken
  const uint32_t vocab_;
  void* score_ = nullptr;
  mortise_score_rows rows_{};
  uint32_t taken_ = 0;  // of rows_
};

}  // namespace mortise::client
