// The event facade over nlohmann's SAX parser. Thread rule and flow: see json_events.h.
#include "hf/json_events.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "hf/hf_limits.h"

namespace mortise::hf {
namespace {

/// Bytes of the text that tell where the parser stands, which nlohmann's events do not say.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *reached = ++at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
  bool operator!=(const Cursor& other) const { return at != other.at; }
};

/// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error … - reason; last read: …"
/// without its number, its position and the bytes of the file.
std::string reason_of(std::string what) {
  if (const size_t end = what.find("column "); end != std::string::npos)
    if (const size_t colon = what.find(": ", end); colon != std::string::npos) what.erase(0, colon + 2);
  if (const size_t read = what.find("; last read"); read != std::string::npos) what.erase(read);
  return what;
}

class Sax final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Sax(JsonHandler& handler, std::string_view text, const std::string& where, uint64_t base)
      : reached(text.data()), handler_(handler), text_(text), where_(where), base_(base) {}

  bool null() override { return pass_scalar({}); }
  bool boolean(bool value) override {
    Scalar scalar;
    scalar.kind = Scalar::boolean;
    scalar.integer_value = value ? 1 : 0;
    return pass_scalar(std::move(scalar));
  }
  bool number_integer(number_integer_t value) override {
    Scalar scalar;
    scalar.kind = Scalar::integer;
    scalar.is_negative_zero = value == 0;  // only numbers with a sign come here
    scalar.integer_value = value;
    scalar.number_value = static_cast<double>(value);
    return pass_scalar(std::move(scalar));
  }
  bool number_unsigned(number_unsigned_t value) override {
    Scalar scalar;
    scalar.kind = value <= INT64_MAX ? Scalar::integer : Scalar::number;
    scalar.integer_value = static_cast<int64_t>(value);
    scalar.number_value = static_cast<double>(value);
    return pass_scalar(std::move(scalar));
  }
  bool number_float(number_float_t value, const string_t&) override {
    Scalar scalar;
    scalar.kind = Scalar::number;
    scalar.number_value = value;
    return pass_scalar(std::move(scalar));
  }
  bool string(string_t& value) override {
    Scalar scalar;
    scalar.kind = Scalar::text;
    scalar.text_value = std::move(value);
    return pass_scalar(std::move(scalar));
  }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override { return done(handler_.key(name, at())); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& problem) override {
    return done(fail(Code::bad_data, where_, "not JSON: " + reason_of(problem.what()) + kDamaged, at()));
  }

  static constexpr const char* kDamaged = "; the file is damaged, fetch it again";
  const char* reached;
  std::optional<Error> error;

 private:
  uint64_t at() const { return base_ + static_cast<uint64_t>(reached - text_.data()); }
  bool done(Result<void> result) {
    if (!result) error = std::move(result.error());
    return !error;
  }
  bool pass_scalar(Scalar value) { return done(handler_.scalar(std::move(value), at())); }
  bool open(bool is_object) {
    if (++depth_ > kJsonDepthMax)
      return done(fail(Code::limit, where_,
                       "the JSON nests deeper than " + std::to_string(kJsonDepthMax) + " levels", at()));
    return done(handler_.begin(is_object, at()));
  }
  bool close() {
    --depth_;
    return done(handler_.end());
  }

  JsonHandler& handler_;
  std::string_view text_;
  const std::string& where_;
  uint64_t base_;
  size_t depth_ = 0;
};

}  // namespace

Result<void> walk_json(std::string_view text, const std::string& where, uint64_t base, JsonHandler& handler) {
  // The parser takes a zero byte for the end of its input and skips a byte order mark; JSON has neither.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return fail(Code::bad_data, where, std::string("not JSON: a zero byte") + Sax::kDamaged, base + zero);
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    return fail(Code::bad_data, where, "not JSON: it begins with a byte order mark; remove it", base);
  Sax sax(handler, text, where, base);
  const Cursor first{text.data(), &sax.reached}, last{text.data() + text.size(), &sax.reached};
  const bool parsed = nlohmann::json::sax_parse(first, last, &sax);
  if (sax.error) return pass(std::move(*sax.error));
  if (!parsed) return fail(Code::bad_data, where, std::string("not JSON") + Sax::kDamaged, base);
  return {};
}

std::string in_quotes(std::string_view name) {
  constexpr size_t kShownBytes = 80;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : name.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      (out += "\\x") += {kHex[byte >> 4], kHex[byte & 15]};
  }
  if (name.size() > kShownBytes) out += "…";
  return out + "\"";
}

}  // namespace mortise::hf
