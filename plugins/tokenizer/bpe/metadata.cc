// See metadata.h. Thread rule: immutable, any thread. Flow: load time only.
#include "metadata.h"

namespace mortise::bpe {
namespace {

const char* type_name(mortise_type type) {
  switch (type) {
    case MORTISE_BOOL:
      return "a boolean";
    case MORTISE_INT:
      return "an integer";
    case MORTISE_STRING:
      return "a string";
    default:
      return "of another type";
  }
}

template <class T>
std::span<const T> elements(const mortise_meta& value) {
  return {static_cast<const T*>(value.data), value.count};
}

}  // namespace

tl::unexpected<Error> bad_key(std::string_view key, std::string message, Code code) {
  return fail(code, std::string(key), std::move(message));
}

Result<std::optional<mortise_meta>> Metadata::typed(std::string_view key, mortise_type type,
                                                    bool array) const {
  std::optional<mortise_meta> value = get_(key);
  if (!value) return value;
  // The element type of an empty array carries nothing, and writers differ in it.
  const bool empty_array = array && value->is_array != 0 && value->count == 0;
  const bool fits = value->type == static_cast<uint32_t>(type) && (value->is_array != 0) == array;
  if (!fits && !empty_array)
    return bad_key(key, std::string("must be ") + type_name(type) + (array ? " array" : "") +
                            ", but has another type; convert the model again");
  if (!array && value->count != 1) return bad_key(key, "holds no value; convert the model again");
  return value;
}

Result<std::optional<std::string_view>> Metadata::string(std::string_view key) const {
  MORTISE_TRY(value, typed(key, MORTISE_STRING, false));
  if (!value) return std::optional<std::string_view>();
  return std::optional(view(elements<mortise_str>(*value)[0]));
}

Result<std::optional<int64_t>> Metadata::integer(std::string_view key) const {
  MORTISE_TRY(value, typed(key, MORTISE_INT, false));
  if (!value) return std::optional<int64_t>();
  return std::optional(elements<int64_t>(*value)[0]);
}

Result<std::optional<bool>> Metadata::boolean(std::string_view key) const {
  MORTISE_TRY(value, typed(key, MORTISE_BOOL, false));
  if (!value) return std::optional<bool>();
  return std::optional(elements<int64_t>(*value)[0] != 0);
}

Result<std::span<const mortise_str>> Metadata::strings(std::string_view key) const {
  MORTISE_TRY(value, typed(key, MORTISE_STRING, true));
  if (!value) return bad_key(key, "is missing; the file holds no complete tokenizer");
  return elements<mortise_str>(*value);
}

Result<std::optional<std::span<const int64_t>>> Metadata::integers(std::string_view key) const {
  MORTISE_TRY(value, typed(key, MORTISE_INT, true));
  if (!value) return std::optional<std::span<const int64_t>>();
  return std::optional(elements<int64_t>(*value));
}

}  // namespace mortise::bpe
