// A compiled pattern of a tokenizer file: a regular expression or a literal text.
// Thread rule: Pattern is immutable, any thread; a MatchScratch serves one thread at a time.
// Flow: normalizers (Replace), pre-tokenizers (Split, ByteLevel) and decoders (Replace) search by it.
//
// The file may be hostile: what a single match may cost is limited in steps, and what all matches of one
// encode() may cost in processor time, so a pattern that backtracks without end becomes an error. What steps
// write is limited likewise.
#pragma once
#include <memory>
#include <string>

#include "tokenizer/pattern_syntax.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace mortise::hub {

struct PcreFree {
  void operator()(pcre2_real_code_8* code) const;
  void operator()(pcre2_real_match_data_8* match) const;
  void operator()(pcre2_real_match_context_8* context) const;
};

/// What matching needs for itself, and how much of the allowed time is left.
class MatchScratch {
 public:
  MatchScratch();
  /// A new encode() of a text of `bytes` begins.
  void start(size_t bytes);
  /// A step has written a text of so many bytes; an error where all of them are far more than the input.
  Result<void> count_bytes(size_t bytes);

 private:
  friend class Pattern;
  Result<void> count_call();

  std::unique_ptr<pcre2_real_match_data_8, PcreFree> match_;
  std::unique_ptr<pcre2_real_match_context_8, PcreFree> context_;
  uint64_t calls_ = 0;
  int64_t deadline_ns_ = 0;  // of this thread's processor time; 0: not begun
  size_t bytes_ = 0;
  uint64_t written_ = 0;
};

struct Range {
  size_t begin = 0;
  size_t end = 0;
};

class Pattern {
 public:
  /// Errors have no `where`.
  static Result<Pattern> regex(std::string_view source, PatternSyntax syntax);
  static Result<Pattern> literal(std::string_view text);

  /// The first match in `text` (valid UTF-8) at or behind `from`; false where there is none.
  Result<bool> find(std::string_view text, size_t from, MatchScratch* scratch, Range* match) const;

  /// Calls visit(Range) for each match from left to right. Of empty matches those right behind a match don't
  /// count, as in Oniguruma.
  template <class Visit>
  Result<void> each(std::string_view text, MatchScratch* scratch, Visit&& visit) const {
    size_t from = 0, last_end = SIZE_MAX;
    while (from <= text.size()) {
      Range match;
      MORTISE_TRY(found, find(text, from, scratch, &match));
      if (!found) return {};
      const bool again = match.begin == match.end && match.end == last_end;
      if (!again) visit(match);
      last_end = match.end;
      from = match.end;
      if (again) do
          ++from;
        while (from < text.size() && (static_cast<uint8_t>(text[from]) & 0xC0) == 0x80);
    }
    return {};
  }

 private:
  std::string literal_;  // not empty: this text is looked for
  std::unique_ptr<pcre2_real_code_8, PcreFree> code_;
};

}  // namespace mortise::hub
