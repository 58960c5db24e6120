// See chars.h. Thread rule: pure functions. Flow: load time and encoding.
#include "tokenizer/chars.h"

#include <utf8proc.h>

namespace mortise::hub {
namespace {

utf8proc_category_t category(uint32_t point) { return utf8proc_category(static_cast<int32_t>(point)); }

bool between(uint32_t point, uint32_t first, uint32_t last) { return point >= first && point <= last; }

}  // namespace

void append_char(uint32_t point, std::string* out) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<int32_t>(point), bytes);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

bool is_white_space(uint32_t point) {
  return between(point, 0x09, 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
         between(point, 0x2000, 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
         point == 0x205F || point == 0x3000;
}

bool is_number(uint32_t point) {
  if (point < 0x80) return between(point, '0', '9');
  const utf8proc_category_t kind = category(point);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(uint32_t point) {
  if (point < 0x80)
    return between(point, '!', '/') || between(point, ':', '@') || between(point, '[', '`') ||
           between(point, '{', '~');
  const utf8proc_category_t kind = category(point);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(uint32_t point) {
  const utf8proc_category_t kind = category(point);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(uint32_t point) { return category(point) == UTF8PROC_CATEGORY_MN; }

bool is_other(uint32_t point) {
  const utf8proc_category_t kind = category(point);
  return kind == UTF8PROC_CATEGORY_CN || kind >= UTF8PROC_CATEGORY_CC;
}

bool is_word_char(uint32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // the joiners, and symbols that are alphabetic: circled and squared letters
      return point == 0x200C || point == 0x200D || between(point, 0x24B6, 0x24E9) ||
             between(point, 0x1F130, 0x1F149) || between(point, 0x1F150, 0x1F169) ||
             between(point, 0x1F170, 0x1F189);
  }
}

uint32_t to_lower(uint32_t point) {
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(point)));
}

}  // namespace mortise::hub
