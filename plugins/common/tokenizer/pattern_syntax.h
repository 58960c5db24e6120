// Rewrites the regular expressions of tokenizer files into PCRE2's syntax.
// Thread rule: pure functions. Flow: load time, before a pattern is compiled.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>

namespace mortise::hub {

constexpr size_t kPatternBytesMax = 65536;  // docs/limits.md

/// Whose syntax a pattern is written in; both match what they say over whole characters.
enum class PatternSyntax {
  oniguruma,  ///< tokenizer.json: classes nest and intersect, ^ and $ know lines, a{2}+ repeats a{2}
  rust        ///< tiktoken and tekken: classes nest and intersect, a{2}+ is possessive
};

/// The pattern for PCRE2 (options UTF, UCP; for oniguruma also MULTILINE). The letters, digits and signs of
/// Unicode versions that PCRE2 doesn't know are added to the classes that name them. Errors have no `where`
/// and the offset into the pattern.
Result<std::string> to_pcre2(std::string_view pattern, PatternSyntax syntax);

}  // namespace mortise::hub
