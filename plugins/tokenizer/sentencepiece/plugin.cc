// Registration of the tokenizer `sentencepiece` and its calls at the C boundary.
// Thread rule: as tokenizer.h says. Flow: host -> this file -> Tokenizer.
#include <mortise/cpp/part.h>
#include <mortise/tokenizer.h>

#include "load.h"
#include "tokenizer.h"

namespace mortise::sentencepiece {
namespace {

struct Plugin {
  Plugin(Host, const NoParams&) {}
};

const Tokenizer& self_of(void* tokenizer) { return *static_cast<const Tokenizer*>(tokenizer); }

int32_t accepts(void*, const mortise_model* model, mortise_error* error) noexcept {
  int32_t score = 0;
  const mortise_status status = guard(error, [&]() -> Result<void> {
    MORTISE_TRY(sure, accepts_model(*model));
    score = sure;
    return {};
  });
  return status == MORTISE_OK ? score : 0;
}

mortise_status load(void*, const mortise_model* model, void** tokenizer, mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    MORTISE_TRY(source, load_model(*model));
    MORTISE_TRY(loaded, Tokenizer::load(std::move(source.model), source.is_strict));
    *tokenizer = loaded.release();
    return {};
  });
}

void free_tokenizer(void*, void* tokenizer) noexcept { delete static_cast<Tokenizer*>(tokenizer); }

void vocabulary(void*, void* tokenizer, mortise_vocabulary* out) noexcept {
  const Tokenizer& self = self_of(tokenizer);
  out->count = static_cast<uint32_t>(self.pieces().size());
  out->bos = self.bos();
  out->eos = self.eos();
  out->add_bos = self.add_bos();
  out->add_eos = self.add_eos();
}

mortise_status encode(void*, void* tokenizer, const mortise_span* spans, size_t span_count,
                      int32_t add_special, uint32_t* ids, size_t capacity, size_t* count,
                      mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    std::vector<Span> views;
    views.reserve(span_count);
    for (size_t i = 0; i < span_count; ++i)
      views.push_back({{spans[i].data, spans[i].size}, spans[i].parse_special != 0});
    std::vector<int32_t> found;
    MORTISE_CHECK(self_of(tokenizer).encode(views, add_special != 0, &found));
    *count = found.size();
    if (found.size() > capacity)
      return fail(Code::limit, "text",
                  "becomes " + std::to_string(found.size()) + " tokens; there is room for " +
                      std::to_string(capacity));
    std::copy(found.begin(), found.end(), ids);
    return {};
  });
}

mortise_status piece(void*, void* tokenizer, uint32_t id, int32_t first, mortise_bytes* bytes,
                     uint32_t* flags) noexcept {
  const Tokenizer& self = self_of(tokenizer);
  if (id >= static_cast<uint32_t>(self.pieces().size())) return MORTISE_BAD_ARGUMENT;
  const auto index = static_cast<int32_t>(id);
  const std::string_view text = self.bytes(index, first != 0);
  *bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  *flags = 0;
  if (self.is_control(index)) *flags |= MORTISE_PIECE_CONTROL;
  if (self.ends_generation(index)) *flags |= MORTISE_PIECE_END;
  if (self.pieces().type(index) == PieceType::unused) *flags |= MORTISE_PIECE_UNUSED;
  return MORTISE_OK;
}

constexpr mortise_tokenizer kTable = {
    sizeof(mortise_tokenizer), 0, accepts, load, free_tokenizer, vocabulary, encode, piece};

constexpr mortise_part kPart =
    make_part<Plugin>("tokenizer", "sentencepiece", MORTISE_TOKENIZER_ID,
                      "SentencePiece BPE and unigram, out of tokenizer.model or GGUF metadata", &kTable);

}  // namespace
}  // namespace mortise::sentencepiece

MORTISE_PLUGIN("mortise.tokenizer.sentencepiece", "0.1.0", "Apache-2.0", MORTISE_TOKENIZER_ID,
               "tokenizer:sentencepiece", "", &mortise::sentencepiece::kPart);
