// Vocabulary: which tokens are put before and behind a text, said outright, as the dialects differ in what an
// absent word means. Thread rule and flow: see vocabulary.h.
#include <algorithm>

#include "tokenizer/pre_tokenizer_rows.h"
#include "vocabulary.h"

namespace mortise::convert {
namespace {

/// `add` overrules what the post-processor says of `id`, as when the folder is read to run.
Result<void> settle(std::vector<int32_t> frame, const char* where, int64_t* id, std::optional<bool>* add) {
  const auto found = std::find(frame.begin(), frame.end(), *id);
  if (*add && *id >= 0) {
    if (!**add && found != frame.end()) frame.erase(found);
    if (**add && found == frame.end()) frame.push_back(static_cast<int32_t>(*id));
  }
  if (frame.size() > 1)
    return fail(Code::unsupported, "tokenizer.json",
                std::string("adds several tokens ") + where +
                    " a text, which a GGUF can't say; convert to safetensors instead");
  if (!frame.empty()) *id = frame[0];
  *add = !frame.empty();
  return {};
}

}  // namespace

Result<void> settle_hub_adds(const hub::Frame& frame, Vocabulary* out) {
  MORTISE_CHECK(settle(frame.before, "before", &out->bos, &out->add_bos));
  const int64_t eos = out->eos;
  MORTISE_CHECK(settle(frame.behind, "behind", &out->eos, &out->add_eos));
  if (eos >= 0 && out->eos != eos)  // it ends answers too
    return fail(Code::unsupported, "tokenizer.json",
                "puts another token than EOS behind a text, which a GGUF can't say; convert to safetensors "
                "instead");
  return {};
}

void settle_gguf_adds(Vocabulary* out) {
  bool bos = out->kind == Vocabulary::Kind::sentencepiece_bpe;
  if (out->kind == Vocabulary::Kind::byte_level_bpe) {
    const hub::PreTokenizerRow* row = hub::find_pre_tokenizer_row(out->pre_tokenizer);
    bos = row != nullptr && row->add_bos;
  }
  if (!out->add_bos) out->add_bos = bos && out->bos >= 0;
  if (!out->add_eos) out->add_eos = out->kind == Vocabulary::Kind::unigram && out->eos >= 0;
}

}  // namespace mortise::convert
