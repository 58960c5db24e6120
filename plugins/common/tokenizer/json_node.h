// A checked view of one value of a JSON file; every error names the file and the path of the value.
// Thread rule: one thread at a time; lives as long as its JsonFile. Flow: tokenizer files -> parts of a
// tokenizer. Long arrays and objects (vocabularies) are walked over value(), without a Node for each entry.
#pragma once
#include <mortise/cpp/result.h>
#include <simdjson.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/quoted.h"

namespace mortise::hub {

constexpr size_t kJsonBytesMax = size_t{1} << 28;  // 256 MiB; docs/limits.md
constexpr size_t kJsonDepthMax = 64;

class Node {
 public:
  Node(simdjson::dom::element value, std::string file, std::string path)
      : value_(value), file_(std::move(file)), path_(std::move(path)) {}

  simdjson::dom::element value() const { return value_; }
  const std::string& path() const { return path_; }  ///< "$.model.merges[3]"

  /// An error about this value, about one of its entries, or about one of its fields.
  tl::unexpected<Error> bad(std::string message, Code code = Code::bad_data) const;
  tl::unexpected<Error> bad_entry(size_t index, std::string message, Code code = Code::bad_data) const;
  tl::unexpected<Error> bad_field(std::string_view key, std::string message,
                                  Code code = Code::bad_data) const;

  /// Of an object: a field, or nothing where it is absent or null. Of equal keys the first counts.
  Result<std::optional<Node>> find(std::string_view key) const;
  /// A field that must be there.
  Result<Node> at(std::string_view key) const;

  Result<std::string_view> string() const;
  Result<int64_t> integer() const;
  Result<bool> boolean() const;
  Result<simdjson::dom::array> array() const;
  Result<simdjson::dom::object> object() const;
  /// The entries of an array of at most 65,536.
  Result<std::vector<Node>> items() const;

  /// Fields of an object by type.
  Result<std::string_view> string(std::string_view key) const;
  Result<int64_t> integer(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<bool> boolean(std::string_view key, bool fallback) const;
  Result<std::vector<Node>> items(std::string_view key) const;

 private:
  tl::unexpected<Error> wrong_type(const char* wanted) const;

  simdjson::dom::element value_;
  std::string file_;
  std::string path_;
};

/// A parsed file.
class JsonFile {
 public:
  /// `name` is the file's name for errors. The text need not outlive the call.
  static Result<JsonFile> parse(std::string_view text, std::string name);
  Node root() const { return Node(root_, name_, "$"); }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
  std::string name_;
};

}  // namespace mortise::hub
