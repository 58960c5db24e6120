// See pattern.h. Thread rule: as there. Flow: load time and encoding.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern.h"

#include <pcre2.h>
#include <time.h>

#include <algorithm>

namespace mortise::hub {
namespace {

// Steps of one attempt to match. Good patterns go over a run of characters a few times at most.
constexpr uint32_t kStepsMin = 10'000'000;
constexpr uint32_t kStepsPerByte = 32;
constexpr uint32_t kHeapKiB = 256 * 1024;  // of the interpreter, which stands in where JIT's stack is short
// Attempts start at this many places before the time is looked at.
constexpr size_t kStartsPerCall = 64;
constexpr uint64_t kCallsPerLook = 64;
// Processor time of one encode(); docs/limits.md. Usual patterns take 0.1 s for a MiB.
constexpr int64_t kTimeMin_ns = 4'000'000'000, kTimePerMiB_ns = 1'000'000'000;

// Bytes that all steps of one encode() may write; a usual one writes the text a few times.
constexpr uint64_t kWrittenMin = uint64_t{64} << 20, kWrittenPerByte = 64;

std::string pcre_message(int code) {
  PCRE2_UCHAR text[128] = {};
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

int64_t thread_time_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

tl::unexpected<Error> too_much() {
  return fail(Code::limit, "text",
              "can't be cut into words: the tokenizer's pattern takes too long on it; shorten the text");
}

}  // namespace

void PcreFree::operator()(pcre2_code* code) const { pcre2_code_free(code); }
void PcreFree::operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
void PcreFree::operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }

MatchScratch::MatchScratch()
    : match_(pcre2_match_data_create(1, nullptr)), context_(pcre2_match_context_create(nullptr)) {
  if (!match_ || !context_) throw std::bad_alloc();
  pcre2_set_heap_limit(context_.get(), kHeapKiB);
  start(0);
}

void MatchScratch::start(size_t bytes) {
  calls_ = 0;
  deadline_ns_ = 0;
  bytes_ = bytes;
  written_ = 0;
  const uint64_t steps = kStepsMin + uint64_t{kStepsPerByte} * bytes;
  pcre2_set_match_limit(context_.get(), static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX)));
}

Result<void> MatchScratch::count_call() {
  if (++calls_ % kCallsPerLook != 1) return {};
  const int64_t now = thread_time_ns();
  if (deadline_ns_ == 0) {
    const auto mib = static_cast<int64_t>(bytes_ >> 20);
    deadline_ns_ = now + kTimeMin_ns + mib * kTimePerMiB_ns;
  }
  return now > deadline_ns_ ? Result<void>(too_much()) : Result<void>();
}

Result<void> MatchScratch::count_bytes(size_t bytes) {
  written_ += bytes;
  if (written_ <= kWrittenMin + kWrittenPerByte * bytes_) return {};
  return fail(Code::limit, "text", "grows too much by the tokenizer's rules; shorten it");
}

Result<Pattern> Pattern::regex(std::string_view source, PatternSyntax syntax) {
  MORTISE_TRY(pattern, to_pcre2(source, syntax));
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_BACKSLASH_C |
                           (syntax == PatternSyntax::oniguruma ? PCRE2_MULTILINE : 0);
  int code = 0;
  PCRE2_SIZE offset = 0;
  Pattern out;
  out.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &code,
                                &offset, nullptr));
  if (!out.code_) return fail(Code::bad_data, "", "isn't a regular expression: " + pcre_message(code));
  // Where the system forbids it, matching is slower, and that is all.
  pcre2_jit_compile(out.code_.get(), PCRE2_JIT_COMPLETE);
  return out;
}

Result<Pattern> Pattern::literal(std::string_view text) {
  if (text.empty()) return regex("", PatternSyntax::rust);
  Pattern out;
  out.literal_ = text;
  return out;
}

Result<bool> Pattern::find(std::string_view text, size_t from, MatchScratch* scratch, Range* match) const {
  if (!literal_.empty()) {
    const size_t begin = text.find(literal_, from);
    *match = {begin, begin + literal_.size()};
    return begin != std::string_view::npos;
  }
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
  for (size_t at = from; at <= text.size();) {
    MORTISE_CHECK(scratch->count_call());
    size_t last = std::min(at + kStartsPerCall, text.size());
    pcre2_set_offset_limit(scratch->context_.get(), last);
    int found = pcre2_match(code_.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK, scratch->match_.get(),
                            scratch->context_.get());
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
      found = pcre2_match(code_.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          scratch->match_.get(), scratch->context_.get());
    if (found >= 0) {
      const PCRE2_SIZE* range = pcre2_get_ovector_pointer(scratch->match_.get());
      *match = {range[0], std::max(range[0], range[1])};  // \K may stand behind the end
      return true;
    }
    if (found != PCRE2_ERROR_NOMATCH) return too_much();
    for (at = last + 1; at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;) ++at;
  }
  return false;
}

}  // namespace mortise::hub
