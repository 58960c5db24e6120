// See normalize.h. Thread rule: pure functions. Flow: encoding with a row that asks for NFC.
#include "normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace mortise::bpe {
namespace {

constexpr unsigned char kFirstLeadThatMatters = 0xCC;  // of U+0300, the first character that form C may touch

constexpr int kMaxParts = 8;  // no canonical decomposition has more than 4

tl::unexpected<Error> no_form_c() {
  return fail(Code::internal, "text", "can't be brought into normal form C; is it valid UTF-8?");
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

bool matters(char byte) { return static_cast<unsigned char>(byte) >= kFirstLeadThatMatters; }
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// One stretch, composed: a character below U+0300 or none, then characters from U+0300 on.
Result<void> append_form_c(std::string_view text, std::vector<utf8proc_int32_t>* points, std::string* out) {
  constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  points->clear();
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
    const utf8proc_ssize_t size = utf8proc_iterate(bytes + at, left, &point);
    utf8proc_int32_t parts[kMaxParts];
    int last_class = 0;
    const utf8proc_ssize_t count =
        size <= 0 ? size : utf8proc_decompose_char(point, parts, kMaxParts, kForm, &last_class);
    if (count <= 0 || count > kMaxParts) return no_form_c();
    points->insert(points->end(), parts, parts + count);
    at += static_cast<size_t>(size);
  }
  order_marks(points);
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(points->data(), static_cast<utf8proc_ssize_t>(points->size()), kForm);
  if (count < 0) return no_form_c();
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    utf8proc_uint8_t encoded[4];
    const utf8proc_ssize_t size = utf8proc_encode_char((*points)[static_cast<size_t>(i)], encoded);
    out->append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(size));
  }
  return {};
}

}  // namespace

bool may_need_nfc(std::string_view text) { return std::any_of(text.begin(), text.end(), matters); }

Result<std::string> to_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> points;
  size_t done = 0;
  while (done < text.size()) {
    const auto from = text.begin() + static_cast<ptrdiff_t>(done);
    auto begin = static_cast<size_t>(std::find_if(from, text.end(), matters) - text.begin());
    size_t end = begin;
    while (end < text.size() && (matters(text[end]) || continues(text[end]))) ++end;
    // The character before may combine with what follows; those before it can't.
    for (bool more = end > begin; more && begin > done; more = continues(text[begin])) --begin;
    out.append(text.substr(done, begin - done));
    MORTISE_CHECK(append_form_c(text.substr(begin, end - begin), &points, &out));
    done = end;
  }
  return out;
}

}  // namespace mortise::bpe
