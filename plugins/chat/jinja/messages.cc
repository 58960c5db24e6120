// A chat request in JSON -> the variables that chat templates expect; see messages.h.
// Thread rule: pure. Flow: plugin.cc -> here -> engine.
#include "messages.h"

#include <algorithm>
#include <iterator>

#include "json_read.h"

namespace mortise::jinja {
namespace {

// Templates build special tokens around the role ('<|' + role + '|>'), so these count as the template's own
// text. Any other role stays user text.
constexpr std::string_view kTrustedRoles[] = {
    "system", "developer", "user",      "assistant", "tool",        "function",   "ipython",
    "model",  "document",  "documents", "context",   "observation", "environment"};

Value trusted_role(Heap& heap, const Value& role) {
  const auto known = std::find(std::begin(kTrustedRoles), std::end(kTrustedRoles), role.bytes());
  return known != std::end(kTrustedRoles) ? heap.string(Text(std::string(*known))) : role;
}

Result<Value> content(Heap& heap, const Value& v, const std::string& where) {
  if (v.is(Kind::none)) return heap.string(Text());
  if (v.is_string()) return v;
  if (!v.is(Kind::list))
    return fail(Code::bad_argument, where, "content must be a string, null or a list of parts");
  Text joined;
  for (const Value& part : v.as<Seq>().items) {
    if (part.is_string()) {
      joined.append(part.text());
      continue;
    }
    const Value* text = part.is(Kind::dict) ? part.as<Dict>().find("text") : nullptr;
    if (text == nullptr || !text->is_string()) {
      return fail(Code::bad_argument, where,
                  "content has a part that is not text; send parts {\"type\": \"text\"}");
    }
    joined.append(text->text());
  }
  return heap.string(std::move(joined));
}

// {"function": {"arguments": "<JSON text>"}} -> the value itself. Text that is no JSON stays text.
Value tool_call(Heap& heap, const Value& call) {
  Value* function = call.is(Kind::dict) ? call.as<Dict>().find("function") : nullptr;
  Value* holder = function != nullptr && function->is(Kind::dict) ? function : nullptr;
  Value* arguments = holder != nullptr ? holder->as<Dict>().find("arguments") : nullptr;
  if (arguments == nullptr || !arguments->is_string()) return call;
  const Result<Value> parsed = read_json(heap, arguments->bytes(), true, "arguments");
  if (parsed && parsed->is(Kind::dict)) *arguments = *parsed;
  return call;
}

Result<Value> message(Heap& heap, const Value& in, const std::string& where) {
  if (!in.is(Kind::dict)) return fail(Code::bad_argument, where, "a message must be an object");
  const Value* role = in.as<Dict>().find("role");
  if (role == nullptr || !role->is_string())
    return fail(Code::bad_argument, where + ".role", "must be a string");
  Dict* out = nullptr;
  const Value result = heap.dict(out);
  bool has_content = false;
  for (const auto& [key, v] : in.as<Dict>().items) {
    const std::string& name = key.bytes();
    if (name == "content") {
      MORTISE_TRY(text, content(heap, v, where + ".content"));
      out->set(key, text);
      has_content = true;
    } else if (name == "role") {
      out->set(key, trusted_role(heap, v));
    } else if (name == "tool_calls" && v.is(Kind::list)) {
      std::vector<Value> calls;
      for (const Value& call : v.as<Seq>().items) calls.push_back(tool_call(heap, call));
      if (!calls.empty()) out->set(key, heap.list(std::move(calls)));
    } else if (!v.is(Kind::none)) {
      out->set(key, v);
    }
  }
  if (!has_content) out->set(heap.string(Text("content")), heap.string(Text()));
  return result;
}

Result<Value> messages(Heap& heap, const Value& in) {
  if (!in.is(Kind::list)) return fail(Code::bad_argument, "messages", "must be a list of messages");
  std::vector<Value> out;
  const std::vector<Value>& items = in.as<Seq>().items;
  for (size_t i = 0; i < items.size(); ++i) {
    MORTISE_TRY(one, message(heap, items[i], "messages[" + std::to_string(i) + "]"));
    out.push_back(one);
  }
  return heap.list(std::move(out));
}

}  // namespace

Result<void> read_request(Heap& heap, std::string_view request, std::string_view bos, std::string_view eos,
                          Context& context) {
  MORTISE_TRY(root, read_json(heap, request, true, "request"));
  if (!root.is(Kind::dict)) return fail(Code::bad_argument, "request", "must be a JSON object with messages");
  const Value* list = root.as<Dict>().find("messages");
  if (list == nullptr) return fail(Code::bad_argument, "request", "lacks messages");
  MORTISE_TRY(normal, messages(heap, *list));
  context["messages"] = normal;
  context["bos_token"] = heap.string(Text(std::string(bos)));
  context["eos_token"] = heap.string(Text(std::string(eos)));
  for (const auto& [key, v] : root.as<Dict>().items) context.emplace(key.bytes(), v);
  // As the reference's caller does: absent ones are none, not undefined.
  Value& tools = context.emplace("tools", Value::none()).first->second;
  if (tools.is(Kind::list) && tools.as<Seq>().items.empty()) tools = Value::none();
  context.emplace("documents", Value::none());
  context.emplace("add_generation_prompt", Value::boolean(true));
  return {};
}

}  // namespace mortise::jinja
