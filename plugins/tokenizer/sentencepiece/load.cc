// See load.h. Thread rule: [load]. Flow: chooses by the dialect; helpers of both sources.
#include "load.h"

#include <mortise/cpp/model.h>

namespace mortise::sentencepiece {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";

}  // namespace

bool is_hub(const mortise_model& model) { return std::string_view(model.dialect) == "hf"; }

Result<int32_t> accepts_model(const mortise_model& model) {
  constexpr int32_t kSure = 100, kUnlessJson = 90;  // what reads tokenizer.json too goes first, as on the hub
  if (is_hub(model)) {
    if (unigram_json(model)) return kSure;
    if (blob(model, "tokenizer.model")) return kUnlessJson;
    return fail(Code::unsupported, "tokenizer",
                "the model has neither a tokenizer.model nor a tokenizer.json of type Unigram");
  }
  MORTISE_TRY(kind, Metadata(&model).text(kModelKey, ""));
  if (kind.empty())
    return fail(Code::unsupported, std::string(kModelKey), "is missing; the file holds no tokenizer");
  if (kind != "llama" && kind != "t5")
    return fail(Code::unsupported, std::string(kModelKey),
                "is " + quoted(kind) + "; SentencePiece is \"llama\" or \"t5\"");
  return kSure;
}

Result<Source> load_model(const mortise_model& model) {
  MORTISE_CHECK(accepts_model(model));
  return is_hub(model) ? load_hub(model) : load_gguf(model);
}

Result<bool> meta_flag(const mortise_model& model, std::string_view key, bool fallback) {
  mortise_meta value = {};
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return fallback;
  if (value.type != MORTISE_BOOL || value.is_array != 0 || value.count != 1)
    return fail(Code::bad_data, std::string(key), "is not a boolean; convert the model again");
  return *static_cast<const int64_t*>(value.data) != 0;
}

}  // namespace mortise::sentencepiece
