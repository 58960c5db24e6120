// See unicode_forms.h. Thread rule: pure functions. Flow: encoding, where a normalizer asks for a form.
#include "tokenizer/unicode_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "tokenizer/chars.h"

namespace mortise::hub {
namespace {

constexpr int kMaxParts = 32;  // no decomposition has more than 18

// The lead byte of the first character that a form may touch: U+0300, U+00C0, U+00A0.
unsigned char first_lead(UnicodeForm form) {
  if (form == UnicodeForm::nfc) return 0xCC;
  return form == UnicodeForm::nfd ? 0xC3 : 0xC2;
}

utf8proc_option_t options(UnicodeForm form) {
  const bool compose = form == UnicodeForm::nfc || form == UnicodeForm::nfkc;
  const bool compatible = form == UnicodeForm::nfkc || form == UnicodeForm::nfkd;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (compatible ? UTF8PROC_COMPAT : 0));
}

tl::unexpected<Error> no_form() {
  return fail(Code::internal, "text", "can't be brought into its normal form; is it valid UTF-8?");
}

int combining_class(utf8proc_int32_t point) { return utf8proc_get_property(point)->combining_class; }

// Canonical order: within each run of marks by class, equal ones as they stand.
void order_marks(std::vector<utf8proc_int32_t>* points) {
  const auto is_mark = [](utf8proc_int32_t point) { return combining_class(point) != 0; };
  for (auto at = points->begin(); at != points->end();) {
    at = std::find_if(at, points->end(), is_mark);
    const auto end = std::find_if_not(at, points->end(), is_mark);
    std::stable_sort(at, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

// One stretch: a character that the form leaves alone or none, then characters that it may touch.
Result<void> append_form(std::string_view text, UnicodeForm form, std::vector<utf8proc_int32_t>* points,
                         std::string* out) {
  points->clear();
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
    const utf8proc_ssize_t size = utf8proc_iterate(bytes + at, left, &point);
    utf8proc_int32_t parts[kMaxParts];
    int last_class = 0;
    const utf8proc_ssize_t count =
        size <= 0 ? size : utf8proc_decompose_char(point, parts, kMaxParts, options(form), &last_class);
    if (count <= 0 || count > kMaxParts) return no_form();
    points->insert(points->end(), parts, parts + count);
    at += static_cast<size_t>(size);
  }
  order_marks(points);
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(points->data(), static_cast<utf8proc_ssize_t>(points->size()), options(form));
  if (count < 0) return no_form();
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    utf8proc_uint8_t encoded[4];
    const utf8proc_ssize_t size = utf8proc_encode_char((*points)[static_cast<size_t>(i)], encoded);
    out->append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(size));
  }
  return {};
}

}  // namespace

bool may_need_form(std::string_view text, UnicodeForm form) {
  const unsigned char lead = first_lead(form);
  return std::any_of(text.begin(), text.end(),
                     [lead](char byte) { return static_cast<unsigned char>(byte) >= lead; });
}

Result<std::string> to_form(std::string_view text, UnicodeForm form) {
  const unsigned char lead = first_lead(form);
  const auto matters = [lead](char byte) { return static_cast<unsigned char>(byte) >= lead; };
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> points;
  size_t done = 0;
  while (done < text.size()) {
    const auto from = text.begin() + static_cast<ptrdiff_t>(done);
    auto begin = static_cast<size_t>(std::find_if(from, text.end(), matters) - text.begin());
    size_t end = begin;
    while (end < text.size() && (matters(text[end]) || continues_char(text[end]))) ++end;
    // The character before may combine with what follows; those before it can't.
    for (bool more = end > begin; more && begin > done; more = continues_char(text[begin])) --begin;
    out.append(text.substr(done, begin - done));
    MORTISE_CHECK(append_form(text.substr(begin, end - begin), form, &points, &out));
    done = end;
  }
  return out;
}

}  // namespace mortise::hub
