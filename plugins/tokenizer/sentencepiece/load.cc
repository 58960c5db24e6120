// See load.h. Thread rule: [load]. Flow: chooses by the dialect; helpers of both sources.
#include "load.h"

#include <mortise/cpp/model.h>

#include <algorithm>

namespace mortise::sentencepiece {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";

bool has_blob(const mortise_model& model, std::string_view name) {
  mortise_bytes bytes = {};
  return model.blob != nullptr && model.blob(model.ctx, str(name), &bytes) == MORTISE_OK;
}

}  // namespace

Result<int32_t> accepts_model(const mortise_model& model) {
  constexpr int32_t kSure = 100, kUnlessJson = 90;  // what reads tokenizer.json too goes first, as on the hub
  if (std::string_view(model.dialect) == "hf") {
    if (has_blob(model, "tokenizer.model")) return kUnlessJson;
    return fail(Code::unsupported, view(model.path).data() == nullptr ? "" : std::string(view(model.path)),
                "has no tokenizer.model");
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
  return std::string_view(model.dialect) == "hf" ? load_hub(model) : load_gguf(model);
}

Result<bool> meta_flag(const mortise_model& model, std::string_view key, bool fallback) {
  mortise_meta value = {};
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return fallback;
  if (value.type != MORTISE_BOOL || value.is_array != 0 || value.count != 1)
    return fail(Code::bad_data, std::string(key), "is not a boolean; convert the model again");
  return *static_cast<const int64_t*>(value.data) != 0;
}

std::vector<int32_t> meta_ids(const mortise_model& model, std::string_view key, size_t count) {
  mortise_meta value = {};
  std::vector<int32_t> out;
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK || value.type != MORTISE_INT) return out;
  for (size_t i = 0; i < value.count; ++i) {
    const int64_t id = static_cast<const int64_t*>(value.data)[i];
    if (id >= 0 && static_cast<uint64_t>(id) < count) out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

void add_known_ends(Model* model) {
  constexpr std::string_view kNames[] = {"<end_of_turn>", "<|im_end|>",        "<|end|>",
                                         "<|eot_id|>",    "<|eom_id|>",        "<EOT>",
                                         "<|endoftext|>", "<end_of_utterance>"};
  for (size_t id = 0; id < model->pieces.size(); ++id) {
    const Piece& piece = model->pieces[id];
    if (piece.type != PieceType::control && piece.type != PieceType::user_defined) continue;
    if (std::find(std::begin(kNames), std::end(kNames), piece.text) != std::end(kNames))
      model->ends.push_back(static_cast<int32_t>(id));
  }
  if (model->eos != kNoPiece) model->ends.push_back(model->eos);
}

}  // namespace mortise::sentencepiece
