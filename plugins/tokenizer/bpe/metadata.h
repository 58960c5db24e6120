// Typed, checked look-ups in a weights file's metadata; every error names the key.
// Thread rule: immutable, any thread. Flow: used while a tokenizer loads, over the host's or a test's getter.
#pragma once
#include <mortise/cpp/result.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tokenizer/json_node.h"

namespace mortise::bpe {

using hub::quoted;

/// The value of a key, or nothing where the file lacks it. What it points to must live until the load is
/// over.
using MetaGetter = std::function<std::optional<mortise_meta>(std::string_view key)>;

class Metadata {
 public:
  explicit Metadata(MetaGetter get) : get_(std::move(get)) {}

  /// A scalar; nothing where the key is absent, an error where its value has another type.
  Result<std::optional<std::string_view>> string(std::string_view key) const;
  Result<std::optional<int64_t>> integer(std::string_view key) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;

  /// An array that must be there.
  Result<std::span<const mortise_str>> strings(std::string_view key) const;
  /// An array of integers of any width; nothing where the key is absent.
  Result<std::optional<std::span<const int64_t>>> integers(std::string_view key) const;

 private:
  Result<std::optional<mortise_meta>> typed(std::string_view key, mortise_type type, bool array) const;

  MetaGetter get_;
};

/// An error about a key of the file.
tl::unexpected<Error> bad_key(std::string_view key, std::string message, Code code = Code::bad_data);

}  // namespace mortise::bpe
