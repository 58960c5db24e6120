// Registration of the tokenizer `bpe` and its calls at the C boundary.
// Thread rule: as pipeline.h says. Flow: host -> this file -> hub::Pipeline.
#include <mortise/cpp/part.h>
#include <mortise/tokenizer.h>

#include <algorithm>

#include "load.h"

namespace mortise::bpe {
namespace {

struct Plugin {
  Plugin(Host, const NoParams&) {}
};

const hub::Pipeline& self_of(void* tokenizer) { return *static_cast<const hub::Pipeline*>(tokenizer); }

int32_t accepts(void*, const mortise_model* model, mortise_error* error) noexcept {
  constexpr int32_t kSure = 100;
  const mortise_status status = guard(error, [&] { return check_model(*model); });
  return status == MORTISE_OK ? kSure : 0;
}

mortise_status load(void*, const mortise_model* model, void** tokenizer, mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    MORTISE_TRY(loaded, bpe::load(*model));
    *tokenizer = loaded.release();
    return {};
  });
}

void free_tokenizer(void*, void* tokenizer) noexcept { delete static_cast<hub::Pipeline*>(tokenizer); }

void vocabulary(void*, void* tokenizer, mortise_vocabulary* out) noexcept {
  const hub::Pipeline& self = self_of(tokenizer);
  const hub::SpecialIds& ids = self.special_ids();
  const auto adds = [](const std::vector<int32_t>& frame, int32_t id) {
    return id != hub::kNoToken && std::find(frame.begin(), frame.end(), id) != frame.end();
  };
  out->count = static_cast<uint32_t>(self.count());
  out->bos = ids.bos;
  out->eos = ids.eos;
  out->add_bos = adds(self.frame().before, ids.bos);
  out->add_eos = adds(self.frame().behind, ids.eos);
}

mortise_status encode(void*, void* tokenizer, const mortise_span* spans, size_t span_count,
                      int32_t add_special, uint32_t* ids, size_t capacity, size_t* count,
                      mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    std::vector<hub::Span> views;
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
  const hub::Pipeline& self = self_of(tokenizer);
  if (id >= static_cast<uint32_t>(self.count())) return MORTISE_BAD_ARGUMENT;
  const auto index = static_cast<int32_t>(id);
  const std::string_view text = self.bytes(index, first != 0);
  *bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  *flags = self.flags(index);
  return MORTISE_OK;
}

constexpr mortise_tokenizer kTable = {
    sizeof(mortise_tokenizer), 0, accepts, load, free_tokenizer, vocabulary, encode, piece};

constexpr mortise_part kPart =
    make_part<Plugin>("tokenizer", "bpe", MORTISE_TOKENIZER_ID,
                      "BPE out of GGUF metadata, tokenizer.json, tiktoken files and tekken.json", &kTable);

}  // namespace
}  // namespace mortise::bpe

MORTISE_PLUGIN("mortise.tokenizer.bpe", "0.1.0", "Apache-2.0", MORTISE_TOKENIZER_ID, "tokenizer:bpe", "",
               &mortise::bpe::kPart);
