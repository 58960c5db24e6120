// A score: the logits of every position of a sequence, given to a reader chunk by chunk.
// Thread rule: row on the pool's workers, publish, fail and has_room on the engine thread, next on the
// reader's. Flow: the scheduler gives the sequence rows only while there is room for them, so that a slow
// reader holds up nobody else and no more than two chunks are ever held.
#pragma once
#include <mortise/cpp/result.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace mortise {

class Score {
 public:
  static constexpr uint32_t kRowsMax = 64;  // of a chunk

  Score(uint64_t tokens, uint32_t vocab);
  Score(const Score&) = delete;
  Score& operator=(const Score&) = delete;

  /// True where the reader has taken the last chunk.
  bool has_room() const;
  /// Row `index` of the chunk that is being filled.
  float* row(uint32_t index) { return filling_.data() + uint64_t{index} * vocab_; }
  /// The first `count` rows are filled.
  void publish(uint32_t count);
  /// There will be no more rows.
  void fail(Error error);

  struct Rows {
    uint32_t count = 0;
    uint64_t position = 0;  // of the first
    const float* logits = nullptr;
  };
  /// Waits up to timeout_ms (-1: for ever) for the next chunk, which lives until the next call. No rows: none
  /// in time, or all were given.
  Result<Rows> next(int32_t timeout_ms);

 private:
  const uint64_t tokens_;
  const uint32_t vocab_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<float> filling_, reading_;  // filling_ is the reader's to swap once it is published
  uint32_t published_ = 0;                // rows in filling_
  uint64_t given_ = 0;
  std::optional<Error> error_;
};

}  // namespace mortise
