// load_hub: a hub folder's tokenizer.model, and what tokenizer_config.json and the configs add to it.
// Thread rule: [load]. Flow: blobs -> Model.
#include <mortise/cpp/model.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "load.h"

namespace mortise::sentencepiece {
namespace {

using nlohmann::json;

std::optional<std::string_view> blob(const mortise_model& model, std::string_view name) {
  mortise_bytes bytes = {};
  if (model.blob(model.ctx, str(name), &bytes) != MORTISE_OK) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

// The name under which errors speak of a file of the folder.
std::string name_of(const mortise_model& model, std::string_view file) {
  std::string path(view(model.path));
  if (path.ends_with(".model") || path.ends_with(".json")) path.resize(path.rfind('/') + 1);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(file);
}

Result<json> parse_config(std::string_view text, const std::string& where) {
  if (text.size() > kMaxVocabularyBytes)
    return fail(
        Code::limit, where,
        "has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kMaxVocabularyBytes));
  try {
    json out = json::parse(text);
    if (out.is_object()) return out;
    return fail(Code::bad_data, where, "is not an object", 0);
  } catch (const json::parse_error& error) {
    return fail(Code::bad_data, where, "is not JSON; the file is damaged", error.byte);
  }
}

// The text of a token, which stands there as such or as an object's "content".
std::string token_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || !value.contains("content") || !value["content"].is_string()) return "";
  return value["content"].get<std::string>();
}

int32_t find_piece(const Model& model, std::string_view text) {
  for (size_t id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].text == text) return static_cast<int32_t>(id);
  return kNoPiece;
}

// "added_tokens_decoder": {"32000": {"content": "<|im_end|>", "special": true}}, also behind the model's
// pieces.
Result<void> add_tokens(const json& config, const std::string& where, Model* model) {
  const json& added = config["added_tokens_decoder"];
  for (const auto& [name, token] : added.items()) {
    const auto bad = [&](std::string what) {
      return fail(
          Code::bad_data, where,
          "added_tokens_decoder." + sentencepiece::quoted(name) + " " + what + "; the file is damaged");
    };
    uint64_t id = 0;
    const auto end = std::from_chars(name.data(), name.data() + name.size(), id);
    if (end.ec != std::errc() || end.ptr != name.data() + name.size()) return bad("is no id");
    if (id >= kMaxPieces) return bad("is an id beyond " + std::to_string(kMaxPieces) + ", the limit");
    const std::string text = token_text(token);
    if (text.empty()) return bad("has no content");
    const bool special = token.is_object() && token.value("special", json(false)) == json(true);
    while (model->pieces.size() <= id) model->pieces.push_back({"", 0, PieceType::unused});
    Piece& piece = model->pieces[id];
    if (piece.text.empty()) piece = {text, 0, special ? PieceType::control : PieceType::user_defined};
    model->specials.push_back({text, static_cast<int32_t>(id), !special});
  }
  return {};
}

// "bos_token" and its like, which every tokenizer of the hub recognises.
void add_named(const json& config, Model* model) {
  const auto add = [&](const json& value) {
    const std::string text = token_text(value);
    const int32_t id = text.empty() ? kNoPiece : find_piece(*model, text);
    if (id != kNoPiece) model->specials.push_back({text, id, false});
    return id;
  };
  for (const char* name : {"unk_token", "pad_token", "mask_token", "sep_token", "cls_token"})
    add(config.value(name, json()));
  if (const int32_t id = add(config.value("bos_token", json())); id != kNoPiece) model->bos = id;
  if (const int32_t id = add(config.value("eos_token", json())); id != kNoPiece) model->eos = id;
  const json more = config.value("additional_special_tokens", json());
  for (const json& value : more.is_array() ? more : json::array()) add(value);
}

Result<void> apply_config(std::string_view text, const std::string& where, Model* model) {
  MORTISE_TRY(config, parse_config(text, where));
  const auto flag = [&](const char* name, bool fallback) {
    const auto found = config.find(name);
    return found != config.end() && found->is_boolean() ? found->get<bool>() : fallback;
  };
  if (config["added_tokens_decoder"].is_object()) MORTISE_CHECK(add_tokens(config, where, model));
  add_named(config, model);
  model->prefix_after_special = flag("legacy", true);
  if (!flag("add_prefix_space", true)) model->normalization.add_dummy_prefix = false;
  model->add_bos = flag("add_bos_token", model->add_bos) && model->bos != kNoPiece;
  model->add_eos = flag("add_eos_token", model->add_eos) && model->eos != kNoPiece;
  return {};
}

}  // namespace

Result<Source> load_hub(const mortise_model& model) {
  const std::string where = name_of(model, "tokenizer.model");
  const std::optional<std::string_view> bytes = blob(model, "tokenizer.model");
  if (!bytes) return fail(Code::not_found, where, "is missing");
  Source source;
  source.is_strict = true;
  MORTISE_TRY(read, read_model_file(*bytes, where));
  Model& out = source.model = std::move(read);
  const bool is_bpe = out.algorithm == Algorithm::bpe;
  out.add_bos = is_bpe && out.bos != kNoPiece;
  out.add_eos = !is_bpe && out.eos != kNoPiece;
  if (const auto config = blob(model, "tokenizer_config.json"))
    MORTISE_CHECK(apply_config(*config, name_of(model, "tokenizer_config.json"), &out));
  for (const char* key : {"generation_config.eos_token_id", "eos_token_id"})
    for (const int32_t id : meta_ids(model, key, out.pieces.size())) out.ends.push_back(id);
  add_known_ends(&out);
  return source;
}

}  // namespace mortise::sentencepiece
