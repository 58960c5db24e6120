// A second kind of engine of the test's own: it only scores, with logits that the test computes.
// Thread rule: the test's thread. Flow: stands in the place of fake_engine.h, or beside it.
#pragma once
#include <mortise/frontend.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace fake {

class ScoringEngine {
 public:
  uint32_t vocab = 300, context = 4096;
  uint32_t chunk = 3;  // rows that come at once
  const char* path = "fake-model.bin";
  size_t open = 0;  // scores that were not ended
  /// The logits at a position.
  std::function<std::vector<float>(const std::vector<uint32_t>& tokens, size_t position)> logits;

  ScoringEngine() {
    table_.size = sizeof(table_);
    table_.ctx = this;
    table_.info = [](void* ctx, mortise_engine_info* out) {
      const auto& self = *static_cast<ScoringEngine*>(ctx);
      out->vocab = self.vocab;
      out->context = self.context;
      out->model = out->model_path = {self.path, std::char_traits<char>::length(self.path)};
    };
    table_.score_begin = [](void* ctx, const uint32_t* tokens, uint64_t count, void** score, mortise_error*) {
      ++static_cast<ScoringEngine*>(ctx)->open;
      *score = new Score{{tokens, tokens + count}, 0, {}};
      return mortise_status{MORTISE_OK};
    };
    table_.score_next = [](void* ctx, void* score, int32_t, mortise_score_rows* rows, mortise_error*) {
      const auto& self = *static_cast<ScoringEngine*>(ctx);
      auto& s = *static_cast<Score*>(score);
      s.rows.clear();
      const size_t first = s.next, end = std::min(s.tokens.size(), first + self.chunk);
      for (; s.next < end; ++s.next) {
        const std::vector<float> row = self.logits(s.tokens, s.next);
        s.rows.insert(s.rows.end(), row.begin(), row.end());
      }
      *rows = {sizeof(*rows), static_cast<uint32_t>(end - first), first, s.rows.data()};
      return mortise_status{MORTISE_OK};
    };
    table_.score_end = [](void* ctx, void* score) {
      --static_cast<ScoringEngine*>(ctx)->open;
      delete static_cast<Score*>(score);
    };
  }
  const mortise_engine* get() const { return &table_; }

 private:
  struct Score {
    std::vector<uint32_t> tokens;
    size_t next;
    std::vector<float> rows;
  };
  mortise_engine table_{};
};

}  // namespace fake
