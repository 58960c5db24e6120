// Reading a request line.
// Thread rule: see request.h. Flow: see request.h.
#include "request.h"

#include "client/messages.h"

namespace mortise::stdio {
namespace {

/// Removes `key` from the object and gives its value; discarded where there is none.
json::Value take(json::Value* object, const char* key) {
  const auto found = object->find(key);
  if (found == object->end()) return json::Value(json::Value::value_t::discarded);
  json::Value value = std::move(*found);
  object->erase(found);
  return value;
}

Result<void> read_id(json::Value* object, Request* request) {
  const json::Value id = take(object, "id");
  if (id.is_discarded()) return {};
  if (!id.is_string() && !id.is_number() && !id.is_null())
    return fail(Code::bad_argument, "id", "is neither a string nor a number");
  request->id = json::dump(id);
  return {};
}

Result<std::vector<uint32_t>> read_tokens(const json::Value& tokens) {
  if (!tokens.is_array()) return fail(Code::bad_argument, "tokens", "is no list of token ids");
  std::vector<uint32_t> ids;
  ids.reserve(tokens.size());
  for (const json::Value& token : tokens) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > UINT32_MAX)
      return fail(Code::bad_argument, "tokens", "holds " + json::dump(token) + ", which is no token id");
    ids.push_back(token.get<uint32_t>());
  }
  return ids;
}

Result<std::vector<uint32_t>> render(json::Value messages, json::Value tools,
                                     std::optional<bool> parse_special, const client::Text& text) {
  MORTISE_CHECK(client::normalise_messages(&messages));
  json::Value request = json::Value::object();
  request["messages"] = std::move(messages);
  if (!tools.is_discarded()) request["tools"] = std::move(tools);
  auto ids = text.render(json::dump(request), parse_special);
  if (!ids && ids.error().where.empty()) ids.error().where = "messages";
  return ids;
}

Result<std::vector<uint32_t>> read_prompt(json::Value* object, const client::Text& text) {
  const json::Value prompt = take(object, "prompt");
  json::Value messages = take(object, "messages");
  const json::Value tokens = take(object, "tokens");
  const int given = !prompt.is_discarded() + !messages.is_discarded() + !tokens.is_discarded();
  if (given != 1)
    return fail(Code::bad_argument, "prompt",
                given == 0 ? "is missing; send one of prompt, messages, tokens"
                           : "does not stand alone; send only one of prompt, messages, tokens");
  if (!tokens.is_discarded()) return read_tokens(tokens);
  const std::optional<bool> parse_special = client::asked_parse_special(*object);
  if (!messages.is_discarded())
    return render(std::move(messages), take(object, "tools"), parse_special, text);
  if (!prompt.is_string()) return fail(Code::bad_argument, "prompt", "is no string");
  auto ids = text.encode_prompt(prompt.get_ref<const std::string&>(), parse_special);
  if (!ids && ids.error().where.empty()) ids.error().where = "prompt";
  return ids;
}

}  // namespace

Result<void> read_request(const std::string& line, const client::Text& text, Request* request) {
  MORTISE_TRY(object, json::parse(line));
  if (!object.is_object()) return fail(Code::bad_data, "", "a request is a JSON object, one a line");
  MORTISE_CHECK(read_id(&object, request));
  const json::Value stream = take(&object, "stream");
  if (!stream.is_discarded() && !stream.is_boolean())
    return fail(Code::bad_argument, "stream", "is neither true nor false");
  request->stream = stream.is_boolean() && stream.get<bool>();
  MORTISE_TRY(ids, read_prompt(&object, text));
  if (ids.empty())
    return fail(Code::bad_argument, "prompt", "has no tokens, and the model asks for no BOS; send some text");
  request->prompt = std::move(ids);
  request->wants_logprobs = object.contains("top_logprobs");
  request->parameters = json::dump(object);
  return {};
}

}  // namespace mortise::stdio
