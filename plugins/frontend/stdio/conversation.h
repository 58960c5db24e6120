// The history of a chat, cut to what fits the context.
// Thread rule: one thread. Flow: fit before a question is sent, add once it is answered.
#pragma once
#include <string>
#include <vector>

#include "client/text.h"
#include "json/json.h"
#include "turn.h"

namespace mortise::stdio {

constexpr uint32_t kAnswerTokensMin =
    512;  // kept free for an answer, or a quarter of the context if that is less

class Conversation {
 public:
  std::string system;  ///< the system message; empty: none

  /// The turn that asks `question` after as much history as fits `context` with room for an answer. Turns are
  /// dropped whole, the oldest first; `dropped` gets the questions of those. The system message always stays.
  Result<Turn> fit(const client::Text& text, const std::string& question, uint32_t context,
                   std::vector<std::string>* dropped);
  void add(const std::string& question, const std::string& answer) { turns_.push_back({question, answer}); }
  void reset() { turns_.clear(); }
  size_t turns() const { return turns_.size(); }

 private:
  struct Exchange {
    std::string question, answer;
  };
  std::string request(const std::string& question) const;

  std::vector<Exchange> turns_;
};

}  // namespace mortise::stdio
