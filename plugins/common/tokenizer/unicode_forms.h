// The four Unicode normalization forms. Thread rule: pure functions. Flow: normalizers, before a text is cut
// into words.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>

namespace mortise::hub {

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

/// False where the text is certainly in the form already.
bool may_need_form(std::string_view text, UnicodeForm form);

/// The form of a text, which must be valid UTF-8. O(n log n) for any text: the marks of a character are
/// sorted, where utf8proc's own function takes time squared in their number.
Result<std::string> to_form(std::string_view text, UnicodeForm form);

}  // namespace mortise::hub
