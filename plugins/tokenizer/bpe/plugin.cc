// Registration of the tokenizer `bpe` and its calls at the C boundary.
// Thread rule: as tokenizer.h says. Flow: host -> this file -> Tokenizer.
#include <mortise/cpp/part.h>
#include <mortise/tokenizer.h>

#include "tokenizer.h"

namespace mortise::bpe {
namespace {

struct Plugin {
  Plugin(Host, const NoParams&) {}
};

const Tokenizer& self_of(void* tokenizer) { return *static_cast<const Tokenizer*>(tokenizer); }

Metadata metadata_of(const mortise_model& model) {
  return Metadata([&model](std::string_view key) -> std::optional<mortise_meta> {
    mortise_meta value = {};
    if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return std::nullopt;
    return value;
  });
}

int32_t accepts(void*, const mortise_model* model, mortise_error* error) noexcept {
  constexpr int32_t kSure = 100;
  const mortise_status status = guard(error, [&] { return check_model(metadata_of(*model)); });
  return status == MORTISE_OK ? kSure : 0;
}

mortise_status load(void*, const mortise_model* model, void** tokenizer, mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    MORTISE_TRY(loaded, Tokenizer::load(metadata_of(*model)));
    *tokenizer = loaded.release();
    return {};
  });
}

void free_tokenizer(void*, void* tokenizer) noexcept { delete static_cast<Tokenizer*>(tokenizer); }

void vocabulary(void*, void* tokenizer, mortise_vocabulary* out) noexcept {
  const Tokenizer& self = self_of(tokenizer);
  const SpecialIds& ids = self.special_ids();
  out->count = static_cast<uint32_t>(self.vocabulary().size());
  out->bos = ids.bos;
  out->eos = ids.eos;
  out->add_bos = ids.add_bos;
  out->add_eos = ids.add_eos;
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

mortise_status piece(void*, void* tokenizer, uint32_t id, int32_t, mortise_bytes* bytes,
                     uint32_t* flags) noexcept {
  const Tokenizer& self = self_of(tokenizer);
  const Vocabulary& tokens = self.vocabulary();
  if (id >= static_cast<uint32_t>(tokens.size())) return MORTISE_BAD_ARGUMENT;
  const auto index = static_cast<int32_t>(id);
  const std::string_view text = tokens.bytes(index);
  const TokenType type = tokens.type(index);
  const bool control = type == TokenType::control || type == TokenType::unknown;
  *bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  *flags = 0;
  if (control) *flags |= MORTISE_PIECE_CONTROL;
  if (self.ends_generation(index)) *flags |= MORTISE_PIECE_END;
  if (type == TokenType::unused) *flags |= MORTISE_PIECE_UNUSED;
  return MORTISE_OK;
}

constexpr mortise_tokenizer kTable = {
    sizeof(mortise_tokenizer), 0, accepts, load, free_tokenizer, vocabulary, encode, piece};

constexpr mortise_part kPart = make_part<Plugin>(
    "tokenizer", "bpe", MORTISE_TOKENIZER_ID,
    "byte-level BPE out of GGUF metadata (gpt-2, smollm, qwen2, llama-bpe, default)", &kTable);

}  // namespace
}  // namespace mortise::bpe

MORTISE_PLUGIN("mortise.tokenizer.bpe", "0.1.0", "Apache-2.0", MORTISE_TOKENIZER_ID, "tokenizer:bpe", "",
               &mortise::bpe::kPart);
