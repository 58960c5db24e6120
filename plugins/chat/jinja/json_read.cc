// JSON text -> values, strictly by RFC 8259; integers stay integers where they fit 64 bits.
// Thread rule: one render. Flow: outside bytes enter the engine here.
#include "json_read.h"

#include <mortise/cpp/utf8.h>
#include <charconv>
#include <cstdlib>

#include "unicode.h"

namespace mortise::jinja {
namespace {

class Reader {
 public:
  Reader(Heap& heap, std::string_view s, bool user) : heap_(heap), s_(s), user_(user) {}

  Value document() {
    const Value v = value(0);
    space();
    if (at_ != s_.size()) bad("text behind the value");
    return v;
  }
  size_t offset() const { return at_; }

 private:
  [[noreturn]] static void bad(const char* what) { raise(what, Code::bad_data); }
  char now() const { return at_ < s_.size() ? s_[at_] : '\0'; }
  void space() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\r' || s_[at_] == '\t'))
      ++at_;
  }
  bool skip(std::string_view word) {
    if (s_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Value value(int depth) {
    if (depth >= kMaxInputDepth) bad("nested too deep");
    space();
    switch (now()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return heap_.string(Text(string(), user_));
      default:
        break;
    }
    if (skip("true")) return Value::boolean(true);
    if (skip("false")) return Value::boolean(false);
    if (skip("null")) return Value::none();
    return number();
  }

  Value array(int depth) {
    ++at_;
    std::vector<Value> items;
    space();
    if (skip("]")) return heap_.list({});
    while (true) {
      items.push_back(value(depth + 1));
      space();
      if (skip("]")) return heap_.list(std::move(items));
      if (!skip(",")) bad("expected ',' or ']'");
    }
  }

  Value object(int depth) {
    ++at_;
    Dict* dict = nullptr;
    const Value out = heap_.dict(dict);
    space();
    if (skip("}")) return out;
    while (true) {
      space();
      if (now() != '"') bad("expected a key");
      const Value key = heap_.string(Text(string(), user_));
      space();
      if (!skip(":")) bad("expected ':'");
      dict->set(key, value(depth + 1));
      space();
      if (skip("}")) return out;
      if (!skip(",")) bad("expected ',' or '}'");
    }
  }

  unsigned hex4() {
    unsigned v = 0;
    const auto [end, error] =
        std::from_chars(s_.data() + at_, s_.data() + std::min(at_ + 4, s_.size()), v, 16);
    if (error != std::errc() || end != s_.data() + at_ + 4) bad("bad \\u escape");
    at_ += 4;
    return v;
  }

  void escape(std::string& out) {
    const char c = now();
    ++at_;
    static constexpr std::string_view kNames = "\"\\/nrtfb";
    static constexpr std::string_view kValues = "\"\\/\n\r\t\f\b";
    const size_t named = kNames.find(c);
    if (c != '\0' && named != std::string_view::npos) {
      out += kValues[named];
      return;
    }
    if (c != 'u') bad("bad escape in a string");
    char32_t p = hex4();
    if (p >= 0xd800 && p < 0xdc00 && skip("\\u")) {
      const unsigned low = hex4();
      if (low < 0xdc00 || low >= 0xe000) bad("half of a surrogate pair");
      p = 0x10000 + ((p - 0xd800) << 10) + (low - 0xdc00);
    }
    if (p >= 0xd800 && p < 0xe000) bad("half of a surrogate pair");
    put_code_point(out, p);
  }

  std::string string() {
    ++at_;
    std::string out;
    while (true) {
      const size_t begin = at_;
      while (at_ < s_.size() && s_[at_] != '"' && s_[at_] != '\\' && static_cast<uint8_t>(s_[at_]) >= 0x20)
        ++at_;
      out.append(s_, begin, at_ - begin);
      if (at_ >= s_.size()) bad("a string without end");
      if (skip("\"")) return out;
      if (!skip("\\")) bad("a control character in a string");
      escape(out);
    }
  }

  size_t digits() {
    const size_t begin = at_;
    while (now() >= '0' && now() <= '9') ++at_;
    return at_ - begin;
  }

  Value number() {
    const size_t begin = at_;
    skip("-");
    const bool zero = now() == '0';
    const size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) bad("expected a value");
    bool is_float = false;
    if (skip(".")) {
      is_float = true;
      if (digits() == 0) bad("a number without digits behind the point");
    }
    if (now() == 'e' || now() == 'E') {
      is_float = true;
      ++at_;
      if (now() == '+' || now() == '-') ++at_;
      if (digits() == 0) bad("a number without exponent");
    }
    const std::string text(s_.substr(begin, at_ - begin));
    int64_t i = 0;
    if (!is_float && std::from_chars(text.data(), text.data() + text.size(), i).ec == std::errc())
      return Value::integer(i);
    if (!is_float) bad("an integer beyond 64 bits");
    return Value::floating(std::strtod(text.c_str(), nullptr));
  }

  Heap& heap_;
  std::string_view s_;
  bool user_;
  size_t at_ = 0;
};

}  // namespace

Result<Value> read_json(Heap& heap, std::string_view json, bool user, const char* what) {
  if (json.size() > kMaxInputBytes) {
    return fail(Code::limit, what,
                "more than " + std::to_string(kMaxInputBytes >> 20) + " MiB of JSON; send less");
  }
  const size_t valid = valid_utf8_prefix(json);
  if (valid != json.size()) return fail(Code::bad_data, what, "not UTF-8; send UTF-8 text", valid);
  Reader reader(heap, json, user);
  try {
    return reader.document();
  } catch (const TemplateError& error) {
    return fail(error.code, what, "not JSON: " + error.message, reader.offset());
  }
}

}  // namespace mortise::jinja
