// Code points as Python's str sees them, over utf8proc's tables.
// Thread rule: pure functions. Flow: string methods, filters, lexer.
#include "unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace mortise::jinja {
namespace {

struct SpecialCase {
  char32_t from;
  const char* upper;
  const char* title;
};
constexpr SpecialCase kSpecialCases[] = {
#include "special_case.inc"
};

const SpecialCase* special_case(char32_t c) {
  const auto* end = std::end(kSpecialCases);
  const auto* row = std::lower_bound(std::begin(kSpecialCases), end, c,
                                     [](const SpecialCase& a, char32_t b) { return a.from < b; });
  return row != end && row->from == c ? row : nullptr;
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2018 || c == 0x2019 || c == 0x2024;
  }
}

// Greek capital sigma at the end of a word becomes the final small sigma.
bool is_final_sigma(std::string_view bytes, size_t begin, size_t end) {
  char32_t c = 0;
  bool before = false;
  for (size_t at = begin; at > 0;) {
    c = previous_code_point(bytes, at);
    if (!is_case_ignorable(c)) {
      before = is_cased(c);
      break;
    }
  }
  if (!before) return false;
  for (size_t at = end; at < bytes.size();) {
    c = next_code_point(bytes, at);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

void put_upper(std::string& out, char32_t c) {
  if (const SpecialCase* row = special_case(c)) {
    out += row->upper;
  } else {
    put_code_point(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

void put_title(std::string& out, char32_t c) {
  if (const SpecialCase* row = special_case(c)) {
    out += row->title;
  } else {
    put_code_point(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

void put_lower(std::string& out, char32_t c, std::string_view bytes, size_t begin, size_t end) {
  if (c == 0x130) {
    out += "i\xcc\x87";
  } else if (c == 0x3a3) {
    put_code_point(out, is_final_sigma(bytes, begin, end) ? 0x3c2 : 0x3c3);
  } else {
    put_code_point(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

void put_folded(std::string& out, char32_t c) {
  utf8proc_int32_t folded[4] = {static_cast<utf8proc_int32_t>(c)};
  int boundary = 0;
  const auto count = utf8proc_decompose_char(folded[0], folded, 4, UTF8PROC_CASEFOLD, &boundary);
  for (utf8proc_ssize_t i = 0; i < count && i < 4; ++i) put_code_point(out, static_cast<char32_t>(folded[i]));
}

}  // namespace

char32_t next_code_point(std::string_view bytes, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(i < bytes.size() ? bytes[i] : 0); };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return ++at, lead;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  char32_t c = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) c = (c << 6) | (byte(at + i) & 0x3fu);
  at = std::min(at + length, bytes.size());
  return c;
}

char32_t previous_code_point(std::string_view bytes, size_t& at) {
  do --at;
  while (at > 0 && (static_cast<uint8_t>(bytes[at]) & 0xc0) == 0x80);
  size_t forward = at;
  return next_code_point(bytes, forward);
}

void put_code_point(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6)), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3f)), put(0x80 | ((c >> 6) & 0x3f)),
        put(0x80 | (c & 0x3f));
  }
}

size_t count_code_points(std::string_view bytes) {
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(),
                                           [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

size_t byte_offset(std::string_view bytes, size_t index, size_t code_points) {
  if (index >= code_points) return bytes.size();
  if (code_points == bytes.size()) return index;
  size_t at = 0;
  while (index-- > 0) next_code_point(bytes, at);
  return at;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_alpha(char32_t c) {
  const utf8proc_category_t k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) {
  return is_decimal(c) || c == 0xb2 || c == 0xb3 || c == 0xb9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
}
bool is_numeric(char32_t c) {
  const utf8proc_category_t k = category(c);
  return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}
bool is_alnum(char32_t c) { return is_alpha(c) || is_numeric(c); }
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xaa || c == 0xba; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7f;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

Text map_case(const Text& text, Case mode) {
  const std::string& bytes = text.bytes();
  Text out;
  out.reserve(bytes.size());
  std::string piece;
  bool in_word = false;
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    piece.clear();
    const bool to_title = (mode == Case::title && !in_word) || (mode == Case::capitalize && begin == 0);
    const bool to_upper = mode == Case::upper || (mode == Case::swap && is_lower(c));
    if (mode == Case::fold) {
      put_folded(piece, c);
    } else if (to_title) {
      put_title(piece, c);
    } else if (to_upper) {
      put_upper(piece, c);
    } else if (mode == Case::swap && !is_upper(c)) {
      put_code_point(piece, c);
    } else {
      put_lower(piece, c, bytes, begin, at);
    }
    in_word = mode == Case::title && is_cased(c);
    out.append(piece, text.user_at(begin));
  }
  return out;
}

Bounds strip_bounds(std::string_view bytes, const std::string* chars, bool left, bool right) {
  const auto stripped = [chars](char32_t c) {
    if (chars == nullptr) return is_space(c);
    for (size_t at = 0; at < chars->size();) {
      if (next_code_point(*chars, at) == c) return true;
    }
    return false;
  };
  Bounds b{0, bytes.size()};
  while (left && b.begin < b.end) {
    size_t at = b.begin;
    if (!stripped(next_code_point(bytes, at))) break;
    b.begin = at;
  }
  while (right && b.end > b.begin) {
    size_t at = b.end;
    if (!stripped(previous_code_point(bytes, at))) break;
    b.end = at;
  }
  return b;
}

bool is_lower_text(std::string_view s) {
  bool any = false;
  for (size_t at = 0; at < s.size();) {
    const char32_t c = next_code_point(s, at);
    if (is_upper(c) || is_title(c)) return false;
    any = any || is_lower(c);
  }
  return any;
}

bool is_upper_text(std::string_view s) {
  bool any = false;
  for (size_t at = 0; at < s.size();) {
    const char32_t c = next_code_point(s, at);
    if (is_lower(c) || is_title(c)) return false;
    any = any || is_upper(c);
  }
  return any;
}

}  // namespace mortise::jinja
