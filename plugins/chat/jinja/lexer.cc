// Template source -> tokens. The rules of white space are those of the reference with trim_blocks and
// lstrip_blocks: a block or comment tag eats one line break after it and the blanks before it where a line
// starts with it; "-" strips all white space on its side, "+" switches the automatic rule off.
// Thread rule: a pure function. Flow: before the parser.
#include "lexer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "lexer_string.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

// \r\n and \r become \n, and one final line break is dropped.
std::string normalize(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize(source)), s_(source_) {}

  std::vector<Token> run() {
    while (at_ < s_.size()) data();
    push(Tok::eof, "");
    return std::move(tokens_);
  }

 private:
  void push(Tok type, std::string text) {
    Token token;
    token.type = type, token.text = std::move(text), token.line = line_;
    tokens_.push_back(std::move(token));
  }
  // Moves on to `to`, counting lines.
  void advance(size_t to) {
    line_ += static_cast<int>(
        std::count(s_.begin() + static_cast<long>(at_), s_.begin() + static_cast<long>(to), '\n'));
    line_starting_ = to > at_ ? s_[to - 1] == '\n' : line_starting_;
    at_ = to;
  }
  bool starts(size_t at, std::string_view what) const { return s_.substr(at, what.size()) == what; }
  size_t skip_space(size_t at) const {
    while (at < s_.size()) {
      size_t next = at;
      if (!is_space(next_code_point(s_, next))) break;
      at = next;
    }
    return at;
  }
  char sign_at(size_t at) const { return at < s_.size() && (s_[at] == '-' || s_[at] == '+') ? s_[at] : 0; }

  // The end of a tag that closes at `at`, with the white space it eats; npos where it does not close there.
  size_t tag_end(size_t at, std::string_view close, bool trims) const {
    if (starts(at, std::string("-") + std::string(close))) return skip_space(at + 3);
    if (trims && starts(at, std::string("+") + std::string(close))) return at + 3;
    if (!starts(at, close)) return std::string_view::npos;
    at += 2;
    return trims && at < s_.size() && s_[at] == '\n' ? at + 1 : at;
  }

  // Emits the text before a tag, stripped as the tag's sign says.
  void emit_data(size_t end, char sign, bool variable) {
    std::string_view text = s_.substr(at_, end - at_);
    if (sign == '-') {
      text = text.substr(0, strip_bounds(text, nullptr, false, true).end);
    } else if (sign != '+' && !variable) {
      const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      const std::string_view tail = text.substr(line);
      if ((line > 0 || line_starting_) && strip_bounds(tail, nullptr, true, false).begin == tail.size()) {
        text = text.substr(0, line);
      }
    }
    if (!text.empty()) push(Tok::data, std::string(text));
  }

  void data() {
    size_t tag = at_;
    while (tag < s_.size() && !(starts(tag, "{{") || starts(tag, "{%") || starts(tag, "{#"))) ++tag;
    if (tag >= s_.size()) {
      push(Tok::data, std::string(s_.substr(at_)));
      advance(s_.size());
      return;
    }
    const char kind = s_[tag + 1];
    const char sign = sign_at(tag + 2);
    emit_data(tag, sign, kind == '{');
    const size_t inside = tag + 2 + (sign != 0 ? 1 : 0);
    const size_t raw_begin = kind == '%' ? raw_tag_end(inside) : std::string_view::npos;
    if (raw_begin != std::string_view::npos) {
      advance(raw_begin);
      raw();
    } else if (kind == '#') {
      advance(inside);
      comment();
    } else {
      advance(tag);
      push(kind == '{' ? Tok::variable_begin : Tok::block_begin, "");
      advance(inside);
      tag_body(kind == '{');
    }
  }

  // {% raw %}: the end of the opening tag, or npos. It trims no line break.
  size_t raw_tag_end(size_t at) const {
    at = skip_space(at);
    if (!starts(at, "raw")) return std::string_view::npos;
    return tag_end(skip_space(at + 3), "%}", false);
  }

  void raw() {
    for (size_t at = at_; at < s_.size(); ++at) {
      if (!starts(at, "{%")) continue;
      const char sign = sign_at(at + 2);
      size_t in = skip_space(at + 2 + (sign != 0 ? 1 : 0));
      if (!starts(in, "endraw")) continue;
      const size_t end = tag_end(skip_space(in + 6), "%}", true);
      if (end == std::string_view::npos) continue;
      emit_data(at, sign, false);
      advance(end);
      return;
    }
    raise_at(line_, "the raw block is not closed; add {% endraw %}");
  }

  void comment() {
    const size_t hash = s_.find("#}", at_);
    if (hash == std::string_view::npos) raise_at(line_, "the comment is not closed; add #}");
    const bool has_sign = hash > at_ && (s_[hash - 1] == '-' || s_[hash - 1] == '+');
    advance(tag_end(hash - (has_sign ? 1 : 0), "#}", true));
  }

  void tag_body(bool variable) {
    open_.clear();
    while (true) {
      if (at_ >= s_.size()) return;  // the parser reports what it misses
      if (open_.empty()) {
        const size_t end = tag_end(at_, variable ? "}}" : "%}", !variable);
        if (end != std::string_view::npos) {
          push(variable ? Tok::variable_end : Tok::block_end, "");
          advance(end);
          return;
        }
      }
      token();
    }
  }

  void token() {
    const size_t space = skip_space(at_);
    if (space != at_) return advance(space);
    const char c = s_[at_];
    if (is_ascii_digit(c)) return number();
    if (c == '"' || c == '\'') return string();
    size_t end = at_;
    while (end < s_.size()) {
      size_t next = end;
      const char32_t p = next_code_point(s_, next);
      if (p != '_' && !is_alnum(p)) break;
      end = next;
    }
    if (end != at_) {
      push(Tok::name, std::string(s_.substr(at_, end - at_)));
      return advance(end);
    }
    op();
  }

  void op() {
    static constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                      "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                      ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (const std::string_view o : kOperators) {
      if (!starts(at_, o)) continue;
      balance(o[0]);
      push(Tok::op, std::string(o));
      return advance(at_ + o.size());
    }
    size_t next = at_;
    next_code_point(s_, next);
    raise_at(line_, "unexpected character '" + std::string(s_.substr(at_, next - at_)) + "'");
  }

  void balance(char c) {
    if (c == '(' || c == '[' || c == '{') {
      open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) raise_at(line_, std::string("unexpected '") + c + "'");
      if (open_.back() != c)
        raise_at(line_, std::string("unexpected '") + c + "', expected '" + open_.back() + "'");
      open_.pop_back();
    }
  }

  // digits, possibly with single underscores between them
  size_t digits(size_t at) const {
    while (at < s_.size() && is_ascii_digit(s_[at])) {
      ++at;
      if (at + 1 < s_.size() && s_[at] == '_' && is_ascii_digit(s_[at + 1])) ++at;
    }
    return at;
  }

  // The end of a float that starts here, or 0.
  size_t float_end() const {
    if (at_ > 0 && s_[at_ - 1] == '.') return 0;
    size_t end = digits(at_);
    bool is_float = false;
    if (end < s_.size() && s_[end] == '.' && digits(end + 1) != end + 1)
      end = digits(end + 1), is_float = true;
    if (end < s_.size() && (s_[end] == 'e' || s_[end] == 'E')) {
      const size_t exponent = end + 1 + (sign_at(end + 1) != 0 ? 1 : 0);
      if (digits(exponent) != exponent) end = digits(exponent), is_float = true;
    }
    return is_float ? end : 0;
  }

  void number() {
    const size_t float_to = float_end();
    const IntegerLiteral literal = float_to == 0 ? integer_literal(s_, at_) : IntegerLiteral{float_to, 10, 0};
    std::string plain(s_.substr(at_ + literal.prefix, literal.end - at_ - literal.prefix));
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    push(float_to != 0 ? Tok::floating : Tok::integer, "");
    if (float_to != 0) {
      tokens_.back().floating = std::strtod(plain.c_str(), nullptr);
    } else {
      const auto [end, ok] =
          std::from_chars(plain.data(), plain.data() + plain.size(), tokens_.back().integer, literal.base);
      if (ok != std::errc() || end != plain.data() + plain.size()) {
        raise_at(line_, "integers beyond 64 bits are not supported");
      }
    }
    advance(literal.end);
  }

  void string() {
    const char quote = s_[at_];
    size_t end = at_ + 1;
    while (end < s_.size() && s_[end] != quote) end += s_[end] == '\\' ? 2 : 1;
    if (end >= s_.size())
      raise_at(line_, std::string("unexpected character '") + quote + "' (a string without end)");
    push(Tok::string, unescape(s_.substr(at_ + 1, end - at_ - 1), line_));
    advance(end + 1);
  }

  std::string source_;
  std::string_view s_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string open_;  // closing brackets that are due
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace mortise::jinja
