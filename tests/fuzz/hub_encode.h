// What every fuzz target of a hub tokenizer asks of one that loaded. Thread rule: one thread. Flow: after the
// load.
#pragma once
#include <mortise/tokenizer.h>

#include <cassert>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline.h"

namespace mortise::hub {

/// A text of scripts, blanks, signs and names of special tokens, and bytes that are no text.
constexpr std::string_view kFuzzText =
    "the <s>don't</s> 12 x\xC3\xA9\xCC\x81\n\n \xE4\xB8\x96\xE7\x95\x8C<|im_end|>\xFF\xE2\x82 aaaa";

inline std::vector<int32_t> fuzz_encode(const Pipeline& tokenizer, const std::vector<Span>& spans,
                                        bool* failed) {
  std::vector<int32_t> ids;
  const Result<void> done = tokenizer.encode(spans, true, &ids);
  *failed = !done;
  if (!done) assert(!done.error().message.empty());
  for (const int32_t id : ids) assert(id >= 0 && id < tokenizer.count());
  return ids;
}

/// Encodes twice with the same ids, and untrusted text without special tokens that its words don't hold.
inline void fuzz_check(const Pipeline& tokenizer, std::string_view more) {
  bool failed = false, again = false;
  const std::vector<Span> spans = {{kFuzzText, true}, {more, false}, {"<s> ab", true}};
  const auto ids = fuzz_encode(tokenizer, spans, &failed);
  assert(ids == fuzz_encode(tokenizer, spans, &again) && failed == again);
  fuzz_encode(tokenizer, {{more, false}}, &failed);
  for (int32_t id = 0; id < tokenizer.count(); id += 7) {
    tokenizer.bytes(id, true);
    tokenizer.bytes(id, false);
  }
}

inline void fuzz_check_error(const Error& error) {
  assert(!error.where.empty() && !error.message.empty());
  assert(error.message.find('\n') == std::string::npos && error.where.find('\n') == std::string::npos);
}

}  // namespace mortise::hub
