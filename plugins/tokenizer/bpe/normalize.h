// Unicode normalization form C. Thread rule: pure functions. Flow: before a text is cut into pieces, where
// the pre-tokenizer's row asks for it.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>

namespace mortise::bpe {

/// False where the text is certainly in form C already.
bool may_need_nfc(std::string_view text);

/// The form C of a text, which must be valid UTF-8. O(n log n) for any text: the marks of a character are
/// sorted, where utf8proc's own function takes time squared in their number.
Result<std::string> to_nfc(std::string_view text);

}  // namespace mortise::bpe
