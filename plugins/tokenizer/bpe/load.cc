// Tokenizer::load: the tokenizer.ggml.* keys, checked. Thread rule: [load]. Flow: metadata -> Tokenizer.
#include "tokenizer.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kAddBosKey = "tokenizer.ggml.add_bos_token";
constexpr std::string_view kAddEosKey = "tokenizer.ggml.add_eos_token";

Result<int32_t> load_id(const Metadata& metadata, std::string_view key, int32_t token_count) {
  MORTISE_TRY(id, metadata.integer(key));
  if (!id) return kNoToken;
  if (*id < 0 || *id >= token_count)
    return bad_key(key, "is " + std::to_string(*id) + ", but the tokens are 0 to " +
                            std::to_string(token_count - 1) + "; convert the model again");
  return static_cast<int32_t>(*id);
}

Result<bool> load_add(const Metadata& metadata, std::string_view key, int32_t id, bool fallback) {
  MORTISE_TRY(add, metadata.boolean(key));
  if (add && *add && id == kNoToken)
    return bad_key(key, "is true, but the file names no such token; convert the model again");
  return add.value_or(fallback) && id != kNoToken;
}

Result<SpecialIds> load_special_ids(const Metadata& metadata, int32_t token_count, bool add_bos) {
  SpecialIds out;
  int32_t unused =
      kNoToken;  // checked, as a damaged file shows there too, but of no use to a byte-level vocabulary
  const std::pair<std::string_view, int32_t*> keys[] = {
      {"tokenizer.ggml.bos_token_id", &out.bos},         {"tokenizer.ggml.eos_token_id", &out.eos},
      {"tokenizer.ggml.eot_token_id", &out.end_of_turn}, {"tokenizer.ggml.eom_token_id", &out.end_of_message},
      {"tokenizer.ggml.unknown_token_id", &unused},      {"tokenizer.ggml.padding_token_id", &unused}};
  for (const auto& [key, id] : keys) {
    MORTISE_TRY(value, load_id(metadata, key, token_count));
    *id = value;
  }
  MORTISE_TRY(bos, load_add(metadata, kAddBosKey, out.bos, add_bos));
  MORTISE_TRY(eos, load_add(metadata, kAddEosKey, out.eos, false));
  out.add_bos = bos;
  out.add_eos = eos;
  return out;
}

}  // namespace

Result<void> check_model(const Metadata& metadata) {
  MORTISE_TRY(model, metadata.string(kModelKey));
  if (!model) return bad_key(kModelKey, "is missing; the file holds no tokenizer", Code::unsupported);
  if (*model != "gpt2")
    return bad_key(kModelKey, "is " + quoted(*model) + "; byte-level BPE is \"gpt2\"", Code::unsupported);
  return {};
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::load(const Metadata& metadata) {
  MORTISE_CHECK(check_model(metadata));
  MORTISE_TRY(row, find_pre_tokenizer(metadata));
  auto out = std::make_unique<Tokenizer>();
  MORTISE_TRY(pre_tokenizer, PreTokenizer::compile(*row));
  MORTISE_TRY(vocabulary, Vocabulary::load(metadata));
  MORTISE_TRY(special_ids, load_special_ids(metadata, vocabulary.size(), row->add_bos));
  MORTISE_TRY(merges, MergeTable::load(metadata, vocabulary));
  MORTISE_TRY(special_tokens, SpecialTokens::load(vocabulary));
  out->pre_tokenizer_ = std::move(pre_tokenizer);
  out->vocabulary_ = std::move(vocabulary);
  out->special_ids_ = special_ids;
  out->merges_ = std::move(merges);
  out->special_tokens_ = std::move(special_tokens);
  return out;
}

}  // namespace mortise::bpe
