// Reading a chat completion's body. A value of null counts as absent everywhere.
// Thread rule: pure. Flow: see chat_request.h.
#include "chat_request.h"

#include "client/messages.h"
#include "json/json.h"

namespace mortise::http {
namespace {

/// Removes `key` from the object and gives its value; null where there is none.
json::Value take(json::Value* object, const char* key) {
  const auto found = object->find(key);
  if (found == object->end()) return nullptr;
  json::Value value = std::move(*found);
  object->erase(found);
  return value;
}

Result<bool> take_bool(json::Value* object, const char* key) {
  const json::Value value = take(object, key);
  if (!value.is_null() && !value.is_boolean())
    return fail(Code::bad_argument, key, "is neither true nor false");
  return value.is_boolean() && value.get<bool>();
}

Result<void> check_model(const json::Value& model, std::string_view served) {
  if (model.is_null()) return {};
  if (!model.is_string()) return fail(Code::bad_argument, "model", "is no string");
  const auto& name = model.get_ref<const std::string&>();
  if (name == served) return {};
  return fail(Code::not_found, "model",
              "The model '" + name + "' does not exist here; this server has '" + std::string(served) + "'");
}

bool is_plain_choice(const json::Value& choice) {
  return choice.is_null() || choice == "none" || choice == "auto";
}

/// What the API offers and this server does not (yet): refused, since an answer without it would be wrong.
Result<void> refuse_unsupported(json::Value* object) {
  const json::Value n = take(object, "n");
  if (!n.is_null() && n != 1)
    return fail(n.is_number_integer() ? Code::unsupported : Code::bad_argument, "n",
                "is not 1; this server makes one choice per request");
  for (const char* key : {"tools", "functions"}) {
    const json::Value tools = take(object, key);
    if (!tools.is_null() && !tools.is_array()) return fail(Code::bad_argument, key, "is no list");
    if (!tools.empty()) return fail(Code::unsupported, key, "is not supported by this server; leave it out");
  }
  for (const char* key : {"tool_choice", "function_call"})
    if (!is_plain_choice(take(object, key)))
      return fail(Code::unsupported, key, "needs tools, which this server does not support; leave it out");
  const json::Value format = take(object, "response_format");
  if (format.is_null()) return {};
  if (!format.is_object() || !format.contains("type") || !format["type"].is_string())
    return fail(Code::bad_argument, "response_format", "is no object with a type");
  if (format["type"] != "text")
    return fail(Code::unsupported, "response_format", "is only supported with type 'text'");
  return {};
}

Result<void> read_stream(json::Value* object, ChatRequest* request) {
  MORTISE_TRY(stream, take_bool(object, "stream"));
  request->stream = stream;
  json::Value options = take(object, "stream_options");
  if (options.is_null()) return {};
  if (!stream) return fail(Code::bad_argument, "stream_options", "is only allowed with \"stream\": true");
  if (!options.is_object()) return fail(Code::bad_argument, "stream_options", "is no object");
  MORTISE_TRY(include_usage, take_bool(&options, "include_usage"));
  request->include_usage = include_usage;
  return {};
}

/// `max_completion_tokens` is the newer name, and wins.
Result<void> read_max_tokens(json::Value* object) {
  constexpr int64_t kMost = INT32_MAX;
  json::Value chosen;
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {
    json::Value value = take(object, key);
    if (value.is_null()) continue;
    const bool fits = value.is_number_unsigned() && value >= 1 && value <= kMost;
    if (!fits) return fail(Code::bad_argument, key, "is no whole number from 1 on");
    chosen = std::move(value);
  }
  if (!chosen.is_null()) (*object)["max_tokens"] = std::move(chosen);
  return {};
}

/// The API says whether there are log-probabilities, and apart from it how many of the likeliest tokens; to
/// the engine the second says both.
Result<void> read_logprobs(json::Value* object, ChatRequest* request) {
  MORTISE_TRY(logprobs, take_bool(object, "logprobs"));
  request->logprobs = logprobs;
  json::Value top = take(object, "top_logprobs");
  if (!logprobs && !top.is_null())
    return fail(Code::bad_argument, "top_logprobs", "is only allowed with \"logprobs\": true");
  if (logprobs) (*object)["top_logprobs"] = top.is_null() ? json::Value(0) : std::move(top);
  return {};
}

}  // namespace

Result<ChatRequest> read_chat_request(std::string_view body, std::string_view served) {
  MORTISE_TRY(object, json::parse(body));
  if (!object.is_object()) return fail(Code::bad_argument, "", "the body is no JSON object");
  ChatRequest request;
  MORTISE_CHECK(check_model(take(&object, "model"), served));
  MORTISE_CHECK(refuse_unsupported(&object));
  MORTISE_CHECK(read_stream(&object, &request));
  MORTISE_CHECK(read_max_tokens(&object));
  MORTISE_CHECK(read_logprobs(&object, &request));
  json::Value messages = take(&object, "messages");
  MORTISE_CHECK(client::normalise_messages(&messages));
  json::Value render = json::Value::object();
  render["messages"] = std::move(messages);
  request.render = json::dump(render);
  request.parse_special = client::asked_parse_special(object);
  request.parameters = json::dump(object);
  return request;
}

}  // namespace mortise::http
