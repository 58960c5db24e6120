// The translator's escapes and classes. Thread rule: as pattern_translator.h says. Flow: load time only.
#include <cctype>

#include "tokenizer/pattern_translator.h"

namespace mortise::hub {
namespace {

constexpr int kNestingMax = 32;

struct Alias {
  std::string_view long_name, name;
};
constexpr Alias kAliases[] = {
#define X(long_name, name) {long_name, name},
#include "tokenizer/property_names.inc"
#undef X
};

struct Later {
  std::string_view name, ranges;
};
constexpr Later kLater[] = {
#define X(name, ranges) {name, ranges},
#include "tokenizer/later_unicode.inc"
#undef X
};

std::string_view later(std::string_view name) {
  for (const Later& row : kLater)
    if (row.name == name) return row.ranges;
  return "";
}

}  // namespace

// Oniguruma has some superscripts and fractions of Latin-1 in \w, but not between brackets; Rust the joiners.
std::string word_items(PatternSyntax syntax, bool in_class) {
  std::string out = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
  if (syntax == PatternSyntax::rust) out += R"(\x{200C}\x{200D})";
  if (syntax == PatternSyntax::oniguruma && !in_class) out += R"(\xB2\xB3\xB9\xBC-\xBE)";
  return out.append(later("L")).append(later("M")).append(later("Nd"));
}

std::string render(const CharSet& set, bool negated) {
  const std::string body = set.items.empty() ? "" : "[" + set.items + "]";
  if (set.others.empty()) {
    if (body.empty()) return negated ? "(?s:.)" : "(?!)";
    return negated ? "[^" + set.items + "]" : body;
  }
  std::string all = body;
  for (const std::string& other : set.others) all += (all.empty() ? "" : "|") + other;
  return negated ? "(?:(?!" + all + ")(?s:.))" : "(?:" + all + ")";
}

// Behind a backslash: a class, or one character. Moves behind it.
Result<CharSet> Translator::class_escape(bool in_class, bool* single) {
  *single = false;
  const char c = peek(1);
  CharSet set;
  bool negated = false;
  switch (c) {
    case 'p':
    case 'P':
      return property();
    case 's':
    case 'S':
      // PCRE2's own \s also matches U+180E, which isn't White_Space.
      set.items = R"(\p{White_Space})";
      negated = c == 'S';
      break;
    case 'd':
    case 'D':
      set.items = R"(\p{Nd})" + std::string(later("Nd"));
      negated = c == 'D';
      break;
    case 'w':
    case 'W':
      set.items = word_items(syntax_, in_class);
      negated = c == 'W';
      break;
    case 'h':
    case 'H':
      if (!oniguruma()) return bad("an unknown escape");
      set.items = "0-9A-Fa-f";
      negated = c == 'H';
      break;
    default: {
      *single = true;
      MORTISE_TRY(point, code_point());
      set.items = point;
      return set;
    }
  }
  at_ += 2;
  if (!negated) return set;
  CharSet out;
  if (set.items.rfind("\\p", 0) == 0 && set.items.find('}') + 1 == set.items.size())
    out.items = "\\P" + set.items.substr(2);
  else
    out.others.push_back(render(set, true));
  return out;
}

// One character behind a backslash, as PCRE2 writes it.
Result<std::string> Translator::code_point() {
  const char c = peek(1);
  at_ += 2;
  switch (c) {
    case 'n':
    case 'r':
    case 't':
    case 'f':
    case 'a':
    case 'e':
    case '0':
      return std::string("\\") + c;
    case 'v':
      return std::string(R"(\x0B)");
    case 'b':  // in a class only
      return std::string(R"(\x08)");
    case 'x':
    case 'u': {
      size_t begin = at_, end = at_;
      const bool braces = peek() == '{';
      if (braces) ++begin;
      const size_t longest = braces ? 8 : c == 'x' ? 2 : 4;
      for (end = begin; end < in_.size() && end - begin < longest;) {
        if (std::isxdigit(static_cast<unsigned char>(in_[end])) == 0) break;
        ++end;
      }
      if (end == begin || (braces && (end >= in_.size() || in_[end] != '}')))
        return bad("a character's number that isn't one");
      at_ = braces ? end + 1 : end;
      return "\\x{" + std::string(in_.substr(begin, end - begin)) + "}";
    }
    default:
      break;
  }
  if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
    at_ -= 2;
    return bad("an unknown escape");
  }
  size_t size = 1;
  while ((static_cast<uint8_t>(peek(size - 1)) & 0xC0) == 0x80) ++size;
  const std::string out = (size == 1 ? "\\" : "") + std::string(in_.substr(at_ - 1, size));
  at_ += size - 1;
  return out;
}

// \p{Name}, \P{Name}, \p{^Name}, \pL.
Result<CharSet> Translator::property() {
  bool negated = peek(1) == 'P';
  std::string_view name;
  if (peek(2) == '{') {
    const size_t end = in_.find('}', at_);
    if (end == std::string_view::npos) return bad("a property without its }");
    name = in_.substr(at_ + 3, end - at_ - 3);
    at_ = end + 1;
  } else {
    name = in_.substr(at_ + 2, 1);
    at_ += 3;
  }
  if (!name.empty() && name[0] == '^') {
    negated = !negated;
    name.remove_prefix(1);
  }
  std::string plain;  // names are told apart by their letters alone
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += static_cast<char>(std::tolower(c));
  for (const Alias& alias : kAliases)
    if (alias.long_name == plain) name = alias.name;
  const std::string_view more = later(name);
  CharSet out;
  const std::string braced = "{" + std::string(name) + "}";
  if (!negated) {
    out.items = "\\p" + braced + std::string(more);
  } else if (more.empty()) {
    out.items = "\\P" + braced;
  } else {
    out.others.push_back("[^\\p" + braced + std::string(more) + "]");
  }
  return out;
}

// From [ to its ]; classes in it are united, && intersects.
Result<std::string> Translator::char_class(int depth) {
  if (depth > kNestingMax) return bad("classes that nest too deep");
  ++at_;
  const bool negated = peek() == '^';
  if (negated) ++at_;
  MORTISE_TRY(first, operand(depth));
  if (peek() == ']') {
    ++at_;
    return render(first, negated);
  }
  std::string every;  // all but the last operand as look-aheads
  std::string last = render(first, false);
  while (peek() == '&') {
    at_ += 2;
    MORTISE_TRY(next, operand(depth));
    every += "(?=" + last + ")";
    last = render(next, false);
  }
  if (peek() != ']') return bad("a [ without its ]");
  ++at_;
  return negated ? "(?:(?!" + every + last + ")(?s:.))" : "(?:" + every + last + ")";
}

// [:alpha:], [:^alpha:]: Oniguruma's go by the Unicode properties of their names.
Result<CharSet> Translator::posix_class() {
  const size_t end = in_.find(":]", at_);
  if (end == std::string_view::npos) return bad("a [: without its :]");
  std::string_view name = in_.substr(at_ + 2, end - at_ - 2);
  const bool negated = !name.empty() && name[0] == '^';
  if (negated) name.remove_prefix(1);
  CharSet set;
  if (name == "alpha" || name == "alnum") {
    set.items = R"(\p{Alphabetic})" + std::string(later("L"));
    if (name == "alnum") set.items.append(R"(\p{Nd})").append(later("Nd"));
  } else if (name == "word") {
    set.items = word_items(syntax_, true);
  } else if (name == "space" || name == "digit" || name == "upper" || name == "lower") {
    set.items = name == "space"   ? R"(\p{White_Space})"
                : name == "digit" ? R"(\p{Nd})" + std::string(later("Nd"))
                : name == "upper" ? R"(\p{Uppercase})"
                                  : R"(\p{Lowercase})";
  } else {
    set.items = "[:" + std::string(name) + ":]";
  }
  at_ = end + 2;
  if (!negated) return set;
  CharSet out;
  out.others.push_back(render(set, true));
  return out;
}

Result<CharSet> Translator::operand(int depth) {
  CharSet set;
  bool after_char = false;  // a range may follow
  for (bool first = true; !at_end(); first = false) {
    const char c = peek();
    if ((c == ']' && !first) || (c == '&' && peek(1) == '&')) return set;
    if (c == '[' && peek(1) == ':') {
      MORTISE_TRY(inner, posix_class());
      set.items += inner.items;
      set.others.insert(set.others.end(), inner.others.begin(), inner.others.end());
      after_char = false;
    } else if (c == '[') {
      MORTISE_TRY(inner, char_class(depth + 1));
      if (inner[0] == '[' && inner[1] != '^')
        set.items += inner.substr(1, inner.size() - 2);
      else
        set.others.push_back(inner);
      after_char = false;
    } else if (c == '\\') {
      if (at_ + 1 >= in_.size()) return bad("a \\ at the end");
      bool single = false;
      MORTISE_TRY(inner, class_escape(true, &single));
      set.items += inner.items;
      set.others.insert(set.others.end(), inner.others.begin(), inner.others.end());
      after_char = single;
    } else if (c == '-' && after_char && peek(1) != ']' && peek(1) != '[' && peek(1) != '\0') {
      set.items += '-';
      ++at_;
      after_char = false;
    } else {
      constexpr std::string_view kEscaped = "[]-^&";
      if (kEscaped.find(c) != std::string_view::npos) set.items += '\\';
      size_t size = 1;
      while ((static_cast<uint8_t>(peek(size)) & 0xC0) == 0x80) ++size;
      // The second character of a range can't begin another.
      after_char =
          !(set.items.size() > 1 && set.items.back() == '-' && set.items[set.items.size() - 2] != '\\');
      set.items += in_.substr(at_, size);
      at_ += size;
    }
  }
  return bad("a [ without its ]");
}

}  // namespace mortise::hub
