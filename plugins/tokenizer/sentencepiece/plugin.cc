// Registration of the tokenizer `sentencepiece` and its calls at the C boundary.
// Thread rule: as tokenizer.h says. Flow: host -> this file -> Tokenizer.
#include <mortise/cpp/part.h>
#include <mortise/tokenizer.h>

#include <algorithm>

#include "load.h"
#include "tokenizer.h"

namespace mortise::sentencepiece {
namespace {

struct Plugin {
  Plugin(Host, const NoParams&) {}
};

// A tokenizer.json is a pipeline, all else a tokenizer of ours.
struct Loaded {
  std::unique_ptr<Tokenizer> own;
  std::unique_ptr<hub::Pipeline> pipeline;
};

const Loaded& self_of(void* tokenizer) { return *static_cast<const Loaded*>(tokenizer); }

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
    auto out = std::make_unique<Loaded>();
    if (const auto json = unigram_json(*model)) {
      MORTISE_TRY(pipeline, load_json(*json, *model));
      out->pipeline = std::move(pipeline);
    } else {
      MORTISE_TRY(source, load_model(*model));
      MORTISE_TRY(own, Tokenizer::load(std::move(source.model), source.is_strict));
      out->own = std::move(own);
    }
    *tokenizer = out.release();
    return {};
  });
}

void free_tokenizer(void*, void* tokenizer) noexcept { delete static_cast<Loaded*>(tokenizer); }

void vocabulary(void*, void* tokenizer, mortise_vocabulary* out) noexcept {
  const Loaded& self = self_of(tokenizer);
  if (self.own) {
    out->count = static_cast<uint32_t>(self.own->pieces().size());
    out->bos = self.own->bos();
    out->eos = self.own->eos();
    out->add_bos = self.own->add_bos();
    out->add_eos = self.own->add_eos();
    return;
  }
  const hub::SpecialIds& ids = self.pipeline->special_ids();
  const auto adds = [](const std::vector<int32_t>& frame, int32_t id) {
    return id != hub::kNoToken && std::find(frame.begin(), frame.end(), id) != frame.end();
  };
  out->count = static_cast<uint32_t>(self.pipeline->count());
  out->bos = ids.bos;
  out->eos = ids.eos;
  out->add_bos = adds(self.pipeline->frame().before, ids.bos);
  out->add_eos = adds(self.pipeline->frame().behind, ids.eos);
}

template <class Span, class Encoder>
Result<std::vector<int32_t>> encode_spans(const Encoder& encoder, std::span<const mortise_span> spans,
                                          bool add_special) {
  std::vector<Span> views;
  views.reserve(spans.size());
  for (const mortise_span& span : spans) views.push_back({{span.data, span.size}, span.parse_special != 0});
  std::vector<int32_t> ids;
  MORTISE_CHECK(encoder.encode(views, add_special, &ids));
  return ids;
}

mortise_status encode(void*, void* tokenizer, const mortise_span* spans, size_t span_count,
                      int32_t add_special, uint32_t* ids, size_t capacity, size_t* count,
                      mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    const Loaded& self = self_of(tokenizer);
    const std::span<const mortise_span> all(spans, span_count);
    MORTISE_TRY(found, self.own ? encode_spans<Span>(*self.own, all, add_special != 0)
                                : encode_spans<hub::Span>(*self.pipeline, all, add_special != 0));
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
  const Loaded& self = self_of(tokenizer);
  const int32_t size = self.own ? self.own->pieces().size() : self.pipeline->count();
  if (id >= static_cast<uint32_t>(size)) return MORTISE_BAD_ARGUMENT;
  const auto index = static_cast<int32_t>(id);
  const std::string_view text =
      self.own ? self.own->bytes(index, first != 0) : self.pipeline->bytes(index, first != 0);
  *bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  *flags = self.own ? self.own->flags(index) : self.pipeline->flags(index);
  return MORTISE_OK;
}

constexpr mortise_tokenizer kTable = {
    sizeof(mortise_tokenizer), 0, accepts, load, free_tokenizer, vocabulary, encode, piece};

constexpr mortise_part kPart = make_part<Plugin>(
    "tokenizer", "sentencepiece", MORTISE_TOKENIZER_ID,
    "SentencePiece BPE and unigram, out of tokenizer.model, GGUF metadata or tokenizer.json (Unigram)",
    &kTable);

}  // namespace
}  // namespace mortise::sentencepiece

MORTISE_PLUGIN("mortise.tokenizer.sentencepiece", "0.1.0", "Apache-2.0", MORTISE_TOKENIZER_ID,
               "tokenizer:sentencepiece", "", &mortise::sentencepiece::kPart);
