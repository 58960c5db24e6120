// load_hub: a hub folder's tokenizer.model, and what tokenizer_config.json and the configs add to it.
// Thread rule: [load]. Flow: blobs -> Model.
#include <charconv>
#include <map>

#include "sentencepiece/hub_model.h"
#include "tokenizer/json_node.h"
#include "tokenizer/special_ids.h"

namespace mortise::sentencepiece {
namespace {

// The name under which errors speak of a file of the folder; a model may be such a file itself.
std::string name_of(const mortise_model& model, std::string_view file) {
  std::string path(view(model.path));
  if (path.ends_with(".model")) return path;
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(file);
}

// The text of a token, which stands there as such or as an object's "content"; empty where there is none.
std::string token_text(const hub::Node& value) {
  if (const auto text = value.string()) return std::string(*text);
  const auto content = value.find("content");
  if (!content || !*content) return "";
  const auto text = (*content)->string();
  return text ? std::string(*text) : "";
}

// "added_tokens_decoder": {"32000": {"content": "<|im_end|>", "special": true}}, also behind the model's
// pieces.
Result<void> add_tokens(const hub::Node& added, Model* model) {
  MORTISE_TRY(object, added.object());
  for (const auto& [name, value] : object) {
    uint64_t id = 0;
    const auto end = std::from_chars(name.data(), name.data() + name.size(), id);
    if (end.ec != std::errc() || end.ptr != name.data() + name.size() || id >= kMaxPieces)
      return added.bad_field(name, "is no id below " + std::to_string(kMaxPieces));
    MORTISE_TRY(token, added.at(name));
    const std::string text = token_text(token);
    if (text.empty()) return added.bad_field(name, "has no content");
    MORTISE_TRY(special, token.boolean("special", false));
    while (model->pieces.size() <= id) model->pieces.push_back({"", 0, PieceType::unused});
    Piece& piece = model->pieces[id];
    if (piece.text.empty()) piece = {text, 0, special ? PieceType::control : PieceType::user_defined};
    MORTISE_TRY(right_strip, token.boolean("rstrip", false));
    model->specials.push_back({text, static_cast<int32_t>(id), !special, right_strip});
  }
  return {};
}

// "bos_token" and its like, which every tokenizer of the hub recognises.
Result<void> add_named(const hub::Node& config, Model* model) {
  std::vector<std::string> texts;
  for (const char* name :
       {"bos_token", "eos_token", "unk_token", "pad_token", "mask_token", "sep_token", "cls_token"}) {
    MORTISE_TRY(value, config.find(name));
    if (value) texts.push_back(token_text(*value));
  }
  MORTISE_TRY(more, config.find("additional_special_tokens"));
  if (more) {
    MORTISE_TRY(items, more->items());
    for (const hub::Node& item : items) texts.push_back(token_text(item));
  }
  // One pass over the pieces, as both lists may be long.
  std::map<std::string_view, int32_t> ids;
  for (const std::string& text : texts) ids.emplace(text, kNoPiece);
  for (size_t id = 0; id < model->pieces.size(); ++id) {
    const auto wanted = ids.find(model->pieces[id].text);
    if (wanted != ids.end() && wanted->second == kNoPiece) wanted->second = static_cast<int32_t>(id);
  }
  for (const std::string& text : texts)
    if (!text.empty() && ids.at(text) != kNoPiece) model->specials.push_back({text, ids.at(text)});
  return {};
}

Result<void> apply_config(std::string_view text, const std::string& where, Model* model) {
  MORTISE_TRY(file, hub::JsonFile::parse(text, where));
  const hub::Node config = file.root();
  MORTISE_TRY(added, config.find("added_tokens_decoder"));
  if (added) MORTISE_CHECK(add_tokens(*added, model));
  MORTISE_CHECK(add_named(config, model));
  MORTISE_TRY(legacy, config.boolean("legacy", true));
  MORTISE_TRY(prefix, config.boolean("add_prefix_space", true));
  model->prefix_after_special = legacy;
  model->normalization.add_dummy_prefix = model->normalization.add_dummy_prefix && prefix;
  return {};
}

void apply_special_ids(const mortise_model& model, Model* out) {
  const auto find = [&](std::string_view text) { return find_piece(*out, text); };
  const auto find_special = [&](std::string_view text) { return find_special_piece(*out, text); };
  const hub::SpecialIds ids =
      hub::load_special_ids(model, static_cast<int32_t>(out->pieces.size()), find, find_special);
  if (ids.bos != hub::kNoToken) out->bos = ids.bos;
  if (ids.eos != hub::kNoToken) out->eos = ids.eos;
  const bool is_bpe = out->algorithm == Algorithm::bpe;
  out->add_bos = ids.add_bos.value_or(is_bpe) && out->bos != kNoPiece;
  out->add_eos = ids.add_eos.value_or(!is_bpe) && out->eos != kNoPiece;
  out->ends = ids.ends;
  if (out->eos != kNoPiece) out->ends.push_back(out->eos);
}

}  // namespace

std::optional<std::string_view> blob(const mortise_model& model, std::string_view name) {
  mortise_bytes bytes = {};
  if (model.blob == nullptr || model.blob(model.ctx, str(name), &bytes) != MORTISE_OK) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

Result<Source> load_hub(const mortise_model& model) {
  const std::string where = name_of(model, "tokenizer.model");
  const std::optional<std::string_view> bytes = blob(model, "tokenizer.model");
  if (!bytes) return fail(Code::not_found, where, "is missing");
  Source source;
  source.is_strict = true;
  MORTISE_TRY(read, read_model_file(*bytes, where));
  source.model = std::move(read);
  if (const auto config = blob(model, "tokenizer_config.json"))
    MORTISE_CHECK(apply_config(*config, name_of(model, "tokenizer_config.json"), &source.model));
  apply_special_ids(model, &source.model);
  return source;
}

}  // namespace mortise::sentencepiece
