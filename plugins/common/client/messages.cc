// Checking chat messages.
// Thread rule: pure. Flow: see messages.h.
#include "client/messages.h"

namespace mortise::client {
namespace {

Result<void> join_parts(json::Value* content, const std::string& where) {
  if (content->empty()) return fail(Code::bad_argument, where, "has no parts; send text");
  std::string text;
  for (size_t i = 0; i < content->size(); ++i) {
    const json::Value& part = (*content)[i];
    const std::string here = where + "[" + std::to_string(i) + "]";
    if (!part.is_object() || !part.contains("type") || !part["type"].is_string())
      return fail(Code::bad_argument, here, "is no content part; send {\"type\":\"text\",\"text\":…}");
    if (part["type"] != "text")
      return fail(Code::bad_argument, here + ".type",
                  "'" + part["type"].get<std::string>() + "' is not supported; send text parts only");
    if (!part.contains("text") || !part["text"].is_string())
      return fail(Code::bad_argument, here + ".text", "is missing or no string");
    text += part["text"].get<std::string>();
  }
  *content = text;
  return {};
}

Result<void> normalise(json::Value* message, const std::string& where) {
  if (!message->is_object())
    return fail(Code::bad_argument, where, "is no object; send {\"role\":…,\"content\":…}");
  const auto role = message->find("role");
  if (role == message->end() || !role->is_string())
    return fail(Code::bad_argument, where + ".role",
                "is missing or no string; send system, user, assistant or tool");
  const std::string name = role->get<std::string>();
  if (name == "developer")
    *role = "system";
  else if (name != "system" && name != "user" && name != "assistant" && name != "tool")
    return fail(Code::bad_argument, where + ".role",
                "'" + name + "' is no role; it is one of system, developer, user, assistant, tool");
  const auto content = message->find("content");
  if (content != message->end() && content->is_array()) return join_parts(&*content, where + ".content");
  // An assistant's turn may consist of tool calls alone.
  const bool may_lack = name == "assistant" && message->contains("tool_calls");
  const bool lacks = content == message->end() || content->is_null();
  if ((lacks && !may_lack) || (!lacks && !content->is_string()))
    return fail(Code::bad_argument, where + ".content", "is missing or neither text nor text parts");
  return {};
}

}  // namespace

Result<void> normalise_messages(json::Value* messages) {
  if (!messages->is_array() || messages->empty())
    return fail(Code::bad_argument, "messages", "is no list of at least one message");
  if (messages->size() > kMessagesMax)
    return fail(Code::limit, "messages",
                "has more than " + std::to_string(kMessagesMax) + " messages; send fewer");
  for (size_t i = 0; i < messages->size(); ++i)
    MORTISE_CHECK(normalise(&(*messages)[i], "messages[" + std::to_string(i) + "]"));
  return {};
}

std::optional<bool> asked_parse_special(const json::Value& request) {
  const auto found = request.find("parse_special");
  if (found == request.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

}  // namespace mortise::client
