// See pre_tokenizer.h. Thread rule: immutable after load, any thread. Flow: load time and the second step of
// encoding.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "pre_tokenizer.h"

#include <pcre2.h>

#include <algorithm>

namespace mortise::bpe {
namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

constexpr PreTokenizerRow kRows[] = {
#define X(names, nfc, ignore_merges, add_bos, pattern) {names, nfc, ignore_merges, add_bos, pattern},
#include "pre_tokenizers.inc"
#undef X
};

bool has_name(std::string_view names, std::string_view name) {
  while (true) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + 1);
  }
}

// PCRE2's own \s also matches U+180E, which the published tokenizers' engines don't take for a blank.
std::string with_white_space(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\') {
      out += pattern[i];
      continue;
    }
    const char escape = pattern[++i];
    if (escape == 's')
      out += R"(\p{White_Space})";
    else if (escape == 'S')
      out += R"(\P{White_Space})";
    else
      (out += '\\') += escape;
  }
  return out;
}

std::string pcre_message(int code) {
  PCRE2_UCHAR text[128] = {};
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

}  // namespace

void PcreFree::operator()(pcre2_code* code) const { pcre2_code_free(code); }
void PcreFree::operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
void PcreFree::operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }

Result<const PreTokenizerRow*> find_pre_tokenizer(const Metadata& metadata) {
  MORTISE_TRY(named, metadata.string(kPreKey));
  const std::string_view name = named.value_or("default");
  std::string known;
  for (const PreTokenizerRow& row : kRows) {
    if (!name.empty() && has_name(row.names, name)) return &row;
    known.append(known.empty() ? "" : " ").append(row.names);
  }
  return bad_key(kPreKey, quoted(name) + " is not known; known are: " + known, Code::unsupported);
}

Result<PreTokenizer> PreTokenizer::compile(const PreTokenizerRow& row) {
  const std::string pattern = with_white_space(row.pattern);
  int code = 0;
  PCRE2_SIZE offset = 0;
  PreTokenizer out;
  out.row_ = &row;
  out.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr));
  if (!out.code_)
    return fail(Code::internal, std::string(kPreKey), "its pattern: " + pcre_message(code), offset);
  // The default limit of 10 million steps is for hostile patterns. These go over each run of blanks at most
  // twice, so their steps are a small multiple of the text's size, which has its own limit.
  out.context_.reset(pcre2_match_context_create(nullptr));
  if (!out.context_) return fail(Code::no_memory, "", "out of memory");
  pcre2_set_match_limit(out.context_.get(), UINT32_MAX);
  // Where the system forbids it, matching is slower, and that is all.
  pcre2_jit_compile(out.code_.get(), PCRE2_JIT_COMPLETE);
  return out;
}

PieceMatch PreTokenizer::make_match() const { return PieceMatch(pcre2_match_data_create(1, nullptr)); }

Result<void> PreTokenizer::split(std::string_view text, PieceMatch* match,
                                 std::vector<uint32_t>* ends) const {
  size_t at = 0;
  while (at < text.size()) {
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                  PCRE2_NO_UTF_CHECK, match->get(), context_.get());
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
      return fail(Code::limit, "text", "can't be cut into words: " + pcre_message(found));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match->get());
    // What no alternative matches is a piece too.
    const size_t begin = found < 0 ? text.size() : range[0];
    if (begin > at) ends->push_back(static_cast<uint32_t>(begin));
    if (found < 0) return {};
    ends->push_back(static_cast<uint32_t>(range[1]));
    at = range[1];
  }
  return {};
}

}  // namespace mortise::bpe
