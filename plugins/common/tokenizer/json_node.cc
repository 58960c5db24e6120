// See json_node.h. Thread rule: one thread at a time. Flow: load time only.
#include "tokenizer/json_node.h"

namespace mortise::hub {
namespace {

using simdjson::dom::element_type;

constexpr size_t kItemsMax = 65536;

const char* type_name(element_type type) {
  switch (type) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

tl::unexpected<Error> Node::bad(std::string message, Code code) const {
  return fail(code, file_ + " " + path_, std::move(message));
}

tl::unexpected<Error> Node::bad_entry(size_t index, std::string message, Code code) const {
  return fail(code, file_ + " " + path_ + "[" + std::to_string(index) + "]", std::move(message));
}

tl::unexpected<Error> Node::bad_field(std::string_view key, std::string message, Code code) const {
  const std::string shown = quoted(key);
  return fail(code, file_ + " " + path_ + "." + shown.substr(1, shown.size() - 2), std::move(message));
}

tl::unexpected<Error> Node::wrong_type(const char* wanted) const {
  return bad(std::string("must be ") + wanted + ", but is " + type_name(value_.type()));
}

Result<std::optional<Node>> Node::find(std::string_view key) const {
  if (!value_.is_object()) return wrong_type("an object");
  simdjson::dom::element found;
  if (value_.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::optional<Node>();
  return std::optional<Node>(Node(found, file_, path_ + "." + std::string(key)));
}

Result<Node> Node::at(std::string_view key) const {
  MORTISE_TRY(found, find(key));
  if (!found) return bad_field(key, "is missing");
  return *found;
}

Result<std::string_view> Node::string() const {
  std::string_view out;
  if (value_.get(out) != simdjson::SUCCESS) return wrong_type("a string");
  return out;
}

Result<int64_t> Node::integer() const {
  int64_t out = 0;
  if (!value_.is_int64() || value_.get(out) != simdjson::SUCCESS) return wrong_type("an integer");
  return out;
}

Result<bool> Node::boolean() const {
  bool out = false;
  if (value_.get(out) != simdjson::SUCCESS) return wrong_type("a boolean");
  return out;
}

Result<simdjson::dom::array> Node::array() const {
  simdjson::dom::array out;
  if (value_.get(out) != simdjson::SUCCESS) return wrong_type("an array");
  return out;
}

Result<simdjson::dom::object> Node::object() const {
  simdjson::dom::object out;
  if (value_.get(out) != simdjson::SUCCESS) return wrong_type("an object");
  return out;
}

Result<std::vector<Node>> Node::items() const {
  MORTISE_TRY(values, array());
  std::vector<Node> out;
  for (const simdjson::dom::element value : values) {
    if (out.size() == kItemsMax)
      return bad("has more than " + std::to_string(kItemsMax) + " entries, the limit", Code::limit);
    out.emplace_back(value, file_, path_ + "[" + std::to_string(out.size()) + "]");
  }
  return out;
}

Result<std::string_view> Node::string(std::string_view key) const {
  MORTISE_TRY(field, at(key));
  return field.string();
}

Result<int64_t> Node::integer(std::string_view key) const {
  MORTISE_TRY(field, at(key));
  return field.integer();
}

Result<bool> Node::boolean(std::string_view key) const {
  MORTISE_TRY(field, at(key));
  return field.boolean();
}

Result<bool> Node::boolean(std::string_view key, bool fallback) const {
  MORTISE_TRY(field, find(key));
  return field ? field->boolean() : Result<bool>(fallback);
}

Result<std::vector<Node>> Node::items(std::string_view key) const {
  MORTISE_TRY(field, at(key));
  return field.items();
}

Result<JsonFile> JsonFile::parse(std::string_view text, std::string name) {
  if (text.size() > kJsonBytesMax)
    return fail(
        Code::limit, name,
        "has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kJsonBytesMax));
  JsonFile out;
  out.parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::error_code code = out.parser_->allocate(text.size(), kJsonDepthMax);
  if (code == simdjson::SUCCESS) code = out.parser_->parse(text.data(), text.size(), true).get(out.root_);
  if (code == simdjson::CAPACITY || code == simdjson::MEMALLOC)
    return fail(Code::no_memory, name, "out of memory");
  if (code == simdjson::DEPTH_ERROR)
    return fail(Code::limit, name,
                "nests deeper than " + std::to_string(kJsonDepthMax) + " levels, the limit");
  if (code != simdjson::SUCCESS)
    return fail(Code::bad_data, name,
                std::string("isn't JSON (") + simdjson::error_message(code) + "); fetch the file again");
  out.name_ = std::move(name);
  return out;
}

}  // namespace mortise::hub
