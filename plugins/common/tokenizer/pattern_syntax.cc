// See pattern_syntax.h. Thread rule: pure functions. Flow: load time only.
#include "tokenizer/pattern_syntax.h"

#include <cctype>

#include "tokenizer/pattern_translator.h"

namespace mortise::hub {

Result<std::string> Translator::run() {
  while (!at_end()) {
    const char c = peek();
    if (c == '\\') {
      MORTISE_CHECK(escape());
    } else if (c == '[') {
      MORTISE_TRY(set, char_class(0));
      atom(set);
    } else if (c == '(') {
      MORTISE_CHECK(group());
    } else if (c == ')') {
      if (open_groups_.empty()) return bad("a ) without its (");
      atom_begin_ = open_groups_.back();
      open_groups_.pop_back();
      out_ += c;
      ++at_;
    } else if (c == '{') {
      MORTISE_CHECK(interval());
    } else if (c == '*' || c == '+' || c == '?' || c == '|') {
      out_ += c;
      ++at_;
    } else {
      size_t size = 1;
      while ((static_cast<uint8_t>(peek(size)) & 0xC0) == 0x80) ++size;
      atom(in_.substr(at_, size));
      at_ += size;
    }
  }
  if (!open_groups_.empty()) return bad("a ( without its )");
  return std::move(out_);
}

// Oniguruma's (?m) is what others call (?s).
Result<void> Translator::group() {
  const size_t begin = out_.size();
  if (peek(1) != '?') {
    out_ += '(';
    ++at_;
    open_groups_.push_back(begin);
    return {};
  }
  if (peek(2) == '~') return bad("an absent operator, which isn't read here,");
  if (peek(2) == '#') {
    const size_t end = in_.find(')', at_);
    if (end == std::string_view::npos) return bad("a comment without its )");
    at_ = end + 1;
    return {};
  }
  out_ += "(?";
  at_ += 2;
  while (!at_end() && (std::isalpha(static_cast<unsigned char>(peek())) != 0 || peek() == '-')) {
    if (peek() == 'P' || peek() == 'R') break;  // (?P<name>, recursion
    if (oniguruma() && peek() == 'm')
      out_ += 's';
    else if (peek() != 'u' && peek() != 'a' && peek() != 'W' && peek() != 'D')
      out_ += peek();
    ++at_;
  }
  if (peek() == ')') {  // options up to the end of the group around
    out_ += ')';
    ++at_;
    return {};
  }
  open_groups_.push_back(begin);
  if (peek() == ':' || peek() == '=' || peek() == '!' || peek() == '>' || peek() == '|') {
    out_ += peek();
    ++at_;
  }
  return {};
}

// {2}, {2,}, {2,3}, {,3}; anything else is a brace.
Result<void> Translator::interval() {
  size_t end = at_ + 1;
  const size_t low = end;
  while (end < in_.size() && in_[end] >= '0' && in_[end] <= '9') ++end;
  std::string bounds(in_.substr(low, end - low));
  const bool comma = end < in_.size() && in_[end] == ',';
  const size_t high = end + 1;
  if (comma) {
    for (++end; end < in_.size() && in_[end] >= '0' && in_[end] <= '9';) ++end;
    if (bounds.empty() && end > high) bounds = "0";
    bounds += "," + std::string(in_.substr(high, end - high));
  }
  if (end >= in_.size() || in_[end] != '}' || bounds.empty() || bounds == ",") {
    atom("\\{");
    ++at_;
    return {};
  }
  at_ = end + 1;
  out_ += "{" + bounds + "}";
  // In Oniguruma a + behind an interval repeats it, and so does a ? behind {2}.
  if (oniguruma() && (peek() == '+' || (peek() == '?' && !comma))) {
    out_.insert(atom_begin_, "(?:");
    out_ += ')';
  }
  return {};
}

Result<void> Translator::escape() {
  const char c = peek(1);
  if (at_ + 1 >= in_.size()) return bad("a \\ at the end");
  if (c == 'b' || c == 'B') {
    at_ += 2;
    const std::string w = "[" + word_items(syntax_, false) + "]";
    atom(c == 'b' ? "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))"
                  : "(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))");
    return {};
  }
  constexpr std::string_view kAsTheyAre = "AzZGKRXk123456789";
  if (kAsTheyAre.find(c) != std::string_view::npos) {
    atom(in_.substr(at_, 2));
    at_ += 2;
    if (c == 'k') {  // the name stands behind it
      const size_t end = in_.find('>', at_);
      if (peek() != '<' || end == std::string_view::npos) return bad("a \\k without its <name>");
      out_ += in_.substr(at_, end + 1 - at_);
      at_ = end + 1;
    }
    return {};
  }
  if (oniguruma() && (c == 'N' || c == 'O')) {
    at_ += 2;
    atom(c == 'N' ? "." : "(?s:.)");
    return {};
  }
  bool single = false;
  MORTISE_TRY(set, class_escape(false, &single));
  atom(single ? set.items : render(set, false));
  return {};
}

Result<std::string> to_pcre2(std::string_view pattern, PatternSyntax syntax) {
  if (pattern.size() > kPatternBytesMax)
    return fail(Code::limit, "",
                "is a pattern of " + std::to_string(pattern.size()) + " bytes; the limit is " +
                    std::to_string(kPatternBytesMax));
  return Translator(pattern, syntax).run();
}

}  // namespace mortise::hub
