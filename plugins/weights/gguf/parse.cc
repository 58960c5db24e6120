// Reads a GGUF header's first two parts: counts and metadata. Thread rule: pure. Flow: see parser.h.
#include <mortise/cpp/utf8.h>

#include "parser.h"

namespace gguf {

/// A count of things of which each takes at least `bytes_min` bytes of what is left.
Result<uint64_t> Parser::count(std::string_view what, uint64_t bytes_min, uint64_t limit) {
  const uint64_t at = reader_.offset();
  MORTISE_TRY(n, reader_.read<uint64_t>(what));
  const std::string is = std::string(what) + " is " + text(n);
  if (n > kLargest) return reader_.bad_at(at, is + ", a negative number" + kDamaged);
  if (n > reader_.left() / bytes_min)
    return reader_.bad_at(at, is + ", more than the " + text(reader_.left()) +
                                  " bytes left can hold; the file is truncated or damaged");
  if (n > limit) return over_limit(at, is + ", above the limit of " + text(limit));
  return n;
}

Result<std::string_view> Parser::string(std::string_view what, uint64_t limit) {
  const uint64_t at = reader_.offset();
  MORTISE_TRY(n, reader_.read<uint64_t>(what));
  if (n > reader_.left())
    return reader_.bad_at(at, std::string(what) + ": its length " + text(n) + " exceeds the " +
                                  text(reader_.left()) + " bytes left; the file is truncated or damaged");
  if (n > limit)
    return over_limit(at, std::string(what) + ": its length " + text(n) + " is above the limit of " +
                              text(limit) + " bytes");
  return reader_.take(n, what);
}

/// A string that names something: not empty, UTF-8, and without control characters (a zero byte would make
/// two names one to a C reader).
Result<std::string_view> Parser::name(std::string_view what, uint64_t limit) {
  const uint64_t at = reader_.offset();
  MORTISE_TRY(out, string(what, limit));
  if (out.empty()) return reader_.bad_at(at, std::string(what) + " is empty" + kDamaged);
  if (!mortise::valid_utf8(out)) return reader_.bad_at(at, std::string(what) + " is not UTF-8" + kDamaged);
  if (std::any_of(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return reader_.bad_at(at, std::string(what) + " holds a control character" + kDamaged);
  return out;
}

Result<void> Parser::header() {
  MORTISE_TRY(magic, reader_.take(4, "the magic \"GGUF\""));
  if (magic != "GGUF") return reader_.bad_at(0, "not a GGUF file: it does not begin with \"GGUF\"");
  MORTISE_TRY(version, reader_.read<uint32_t>("version"));
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3)
    return fail(
        Code::unsupported, file_.where,
        "GGUF version " + text(swapped) + " in big-endian is not read; convert the model to little-endian",
        4);
  if (version != 2 && version != 3)
    return fail(Code::unsupported, file_.where,
                "GGUF version " + text(version) +
                    (version == 1  ? " is not read: its counts have 32 bits; convert the model again"
                     : version > 3 ? " is not read: it is later than 3; use a later version of this plugin"
                                   : " is not read, only 2 and 3; the file is damaged"),
                4);
  file_.version = version;
  MORTISE_TRY(tensor_count, count("tensor count", kEntryBytesMin, kTensorsMax));
  MORTISE_TRY(entry_count, count("metadata count", kEntryBytesMin, kMetadataKeysMax));
  tensor_count_ = tensor_count;
  entry_count_ = entry_count;
  return {};
}

Result<void> Parser::metadata() {
  for (uint64_t i = 0; i < entry_count_; ++i) {
    Entry entry{};
    MORTISE_TRY(key, name("metadata key " + text(i), kKeyBytesMax));
    entry.key = key;
    MORTISE_CHECK(value(entry));
    file_.entries.push_back(entry);
  }
  MORTISE_TRY(order, sorted(
                         file_.entries, [](const Entry& e) { return e.key; },
                         [&](std::string_view key) {
                           return reader_.bad_at(offset_of(key) - 8,
                                                 "metadata key " + quoted(key) + " occurs twice" + kDamaged);
                         }));
  file_.entries_by_key = std::move(order);
  return {};
}

Result<ValueType> Parser::value_type(std::string_view what) {
  const uint64_t at = reader_.offset();
  MORTISE_TRY(type, reader_.read<uint32_t>(what));
  if (type >= kValueTypes)
    return reader_.bad_at(at, std::string(what) + " is " + text(type) + ", which is no type" + kDamaged);
  return static_cast<ValueType>(type);
}

Result<void> Parser::value(Entry& entry) {
  MORTISE_TRY(type, value_type("the type of " + quoted(entry.key)));
  entry.type = type;
  entry.count = 1;
  if (type == ValueType::array) return array(entry);
  entry.at = reader_.offset();
  return elements(entry);
}

Result<void> Parser::array(Entry& entry) {
  const std::string what = quoted(entry.key);
  const uint64_t type_at = reader_.offset();
  MORTISE_TRY(type, value_type("the element type of " + what));
  if (type == ValueType::array)
    return reader_.bad_at(type_at, what + " is an array of arrays, which GGUF does not allow" + kDamaged);
  entry.type = type;
  entry.is_array = true;
  const uint64_t bytes_min = type == ValueType::string ? 8 : value_width(type);
  MORTISE_TRY(n, count("the length of " + what, bytes_min, kArrayElementsMax));
  entry.count = n;
  entry.at = reader_.offset();
  return elements(entry);
}

/// Walks over the elements of a scalar or an array.
Result<void> Parser::elements(const Entry& entry) {
  if (entry.type == ValueType::string) {
    const std::string what = "a string of " + quoted(entry.key);
    for (uint64_t i = 0; i < entry.count; ++i) MORTISE_CHECK(string(what, kStringBytesMax));
    return {};
  }
  const uint64_t at = reader_.offset();
  MORTISE_TRY(bytes,
              reader_.take(entry.count * value_width(entry.type), "the value of " + quoted(entry.key)));
  if (entry.type != ValueType::boolean) return {};
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != 0 && bytes[i] != 1)
      return reader_.bad_at(at + i, "a bool of " + quoted(entry.key) + " is " +
                                        text(static_cast<uint8_t>(bytes[i])) + ", not 0 or 1" + kDamaged);
  return {};
}

Result<void> Parser::alignment() {
  const Entry* entry = file_.find_entry("general.alignment");
  if (entry == nullptr) return {};
  if (entry->type != ValueType::u32 || entry->is_array)
    return reader_.bad_at(entry->at,
                          "general.alignment must be a u32, not " +
                              std::string(entry->is_array ? "an array" : value_type_name(entry->type)));
  std::memcpy(&file_.alignment, file_.data + entry->at, sizeof(file_.alignment));
  const uint32_t n = file_.alignment;
  if (n == 0 || (n & (n - 1)) != 0 || n > kAlignmentMax)
    return reader_.bad_at(entry->at, "general.alignment is " + text(n) +
                                         "; it must be a power of two up to " + text(kAlignmentMax));
  return {};
}

Result<File> read_file(const uint8_t* data, uint64_t size, std::string where, bool accept_header_only) {
  return Parser(data, size, std::move(where)).run(accept_header_only);
}

}  // namespace gguf
