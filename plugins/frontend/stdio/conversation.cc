// Rendering and cutting the history.
// Thread rule: one thread. Flow: see conversation.h.
#include "conversation.h"

#include <algorithm>

namespace mortise::stdio {

std::string Conversation::request(const std::string& question) const {
  json::Value messages = json::Value::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  for (const Exchange& turn : turns_) {
    messages.push_back({{"role", "user"}, {"content", turn.question}});
    messages.push_back({{"role", "assistant"}, {"content", turn.answer}});
  }
  messages.push_back({{"role", "user"}, {"content", question}});
  json::Value object;
  object["messages"] = std::move(messages);
  return json::dump(object);
}

Result<Turn> Conversation::fit(const client::Text& text, const std::string& question, uint32_t context,
                               std::vector<std::string>* dropped) {
  const uint32_t room = context - std::min(kAnswerTokensMin, context / 4);
  while (true) {
    Turn turn;
    turn.chat_request = request(question);
    MORTISE_TRY(prompt, text.render(turn.chat_request));
    turn.prompt = std::move(prompt);
    // A question that is too long alone goes on to the engine, whose error has the numbers.
    if (turn.prompt.size() <= room || turns_.empty()) return turn;
    dropped->push_back(std::move(turns_.front().question));
    turns_.erase(turns_.begin());
  }
}

}  // namespace mortise::stdio
