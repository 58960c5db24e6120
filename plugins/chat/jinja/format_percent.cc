// "pattern" % arguments, as Python's printf-style formatting.
// Thread rule: one render. Flow: the % operator and the format filter.
#include <cmath>

#include "builtins.h"
#include "format_spec.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

class Percent {
 public:
  Percent(Interp& interp, const Text& pattern, const Value& args)
      : interp_(interp), pattern_(pattern), s_(pattern.bytes()), args_(args) {}

  Text run() {
    while (at_ < s_.size()) {
      const size_t percent = std::min(s_.find('%', at_), s_.size());
      out_.append(pattern_, at_, percent);
      at_ = percent;
      if (at_ < s_.size()) directive();
      interp_.budget().expect(out_.cost(), 1);
    }
    const bool left_over =
        args_.is(Kind::tuple) ? used_ < args_.as<Seq>().items.size() : used_ == 0 && !is_mapping();
    if (left_over) raise("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  // Python takes whatever can be subscripted by a key for a mapping, lists too.
  bool is_mapping() const {
    return args_.is(Kind::dict) || args_.is(Kind::list) || args_.is(Kind::undefined) || args_.is(Kind::range);
  }

  char peek() const {
    if (at_ >= s_.size()) raise("incomplete format");
    return s_[at_];
  }

  Value next_argument() {
    if (args_.is(Kind::tuple)) {
      const std::vector<Value>& items = args_.as<Seq>().items;
      if (used_ >= items.size()) raise("not enough arguments for format string");
      return items[used_++];
    }
    if (used_++ != 0) raise("not enough arguments for format string");
    return args_;
  }

  int64_t number() {
    if (peek() == '*') {
      ++at_;
      const int64_t n = need_int("%", next_argument());
      if (n > kMaxFormatWidth || n < -kMaxFormatWidth) raise("a format's width is too large", Code::limit);
      return n;
    }
    int64_t n = 0;
    while (peek() >= '0' && peek() <= '9') {
      n = n * 10 + (s_[at_++] - '0');
      if (n > kMaxFormatWidth)
        raise("a format's width or precision is above " + std::to_string(kMaxFormatWidth), Code::limit);
    }
    return n;
  }

  void directive() {
    ++at_;
    Value value;
    if (peek() == '(') value = by_key();
    FormatSpec f;
    bool left = false, zero = false;
    for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++at_) {
      const char flag = s_[at_];
      if (flag == '-') left = true;
      if (flag == '0') zero = true;
      if (flag == '#') f.alternate = true;
      if (flag == '+' || (flag == ' ' && f.sign == 0)) f.sign = flag;
    }
    f.width = number();
    if (f.width < 0) left = true, f.width = -f.width;
    if (peek() == '.') {
      ++at_;
      f.precision = std::max<int64_t>(number(), 0);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    f.type = peek();
    ++at_;
    if (f.type == '%') return out_.append("%", false);
    if (value.is_missing()) value = next_argument();
    f.align = left ? '<' : '>';
    convert(f, value, zero && !left);
  }

  Value by_key() {
    const size_t begin = ++at_;
    for (int depth = 1; depth > 0; ++at_) depth += peek() == '(' ? 1 : peek() == ')' ? -1 : 0;
    if (!args_.is(Kind::dict)) raise("format requires a mapping");
    const std::string key = s_.substr(begin, at_ - 1 - begin);
    const Value* found = args_.as<Dict>().find(key);
    if (found == nullptr) raise("the format's key '" + key + "' is not in the mapping");
    used_ = 1;
    return *found;
  }

  void convert(FormatSpec f, const Value& v, bool zero) {
    if (f.type == 's' || f.type == 'r' || f.type == 'a') {
      Text text = f.type == 's' ? interp_.text(v) : to_repr(v, &interp_.budget());
      if (f.precision >= 0) {
        const size_t points = count_code_points(text.bytes());
        text = text.slice(0, byte_offset(text.bytes(), static_cast<size_t>(f.precision), points));
      }
      return out_.append(pad_text(f, Text(), text, f.align));
    }
    if (f.type == 'c') return character(f, v);
    if (std::string_view("diuxXoeEfFgG").find(f.type) == std::string_view::npos) {
      raise(std::string("unsupported format character '") + f.type + "'");
    }
    if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
    const bool decimal = std::string_view("diu").find(f.type) != std::string_view::npos;
    const bool integral = decimal || f.type == 'x' || f.type == 'X' || f.type == 'o';
    if (!v.is_number() || (integral && !decimal && !v.is_int())) {
      raise(std::string("%") + f.type + " format: a number is required, not " + type_name(v));
    }
    if (zero) f.align = '=', f.fill = "0";
    Value number = v;
    if (decimal) {
      f.type = 'd';
      if (v.is(Kind::floating)) {
        if (!std::isfinite(v.f) || std::fabs(v.f) > 9.2e18)
          raise("cannot convert the float to an integer of 64 bits");
        number = Value::integer(static_cast<int64_t>(v.f));
      }
    }
    if (integral) number = Value::integer(number.as_int());
    out_.append(integral ? with_digits(f, number) : format_number(f, number));
  }

  // %.5d: at least so many digits.
  Text with_digits(FormatSpec f, const Value& v) {
    const int64_t digits = f.precision;
    f.precision = -1;
    if (digits < 0) return format_number(f, v);
    FormatSpec inner = f;
    inner.fill = "0", inner.align = '=';
    const bool prefixed = v.i < 0 || f.sign != 0;
    inner.width = digits + (prefixed ? 1 : 0) + (f.alternate && f.type != 'd' ? 2 : 0);
    return pad_text(f, Text(), format_number(inner, v), f.align == '=' ? '>' : f.align);
  }

  void character(const FormatSpec& f, const Value& v) {
    if (v.is_int()) {
      FormatSpec plain = f;
      plain.precision = -1;
      return out_.append(format_number(plain, v));
    }
    if (!v.is_string() || v.as<Str>().length != 1) raise("%c requires int or char");
    out_.append(pad_text(f, Text(), v.text(), f.align));
  }

  Interp& interp_;
  const Text& pattern_;
  const std::string& s_;
  const Value args_;
  Text out_;
  size_t at_ = 0;
  size_t used_ = 0;
};

}  // namespace

Text format_percent(Interp& interp, const Text& pattern, const Value& args) {
  return Percent(interp, pattern, args).run();
}

}  // namespace mortise::jinja
