// load_gguf: the tokenizer.ggml.* keys. Thread rule: [load]. Flow: metadata -> Model.
#include <mortise/cpp/model.h>

#include <algorithm>
#include <span>

#include "charsmap.h"
#include "load.h"
#include "tokenizer/special_ids.h"

namespace mortise::sentencepiece {
namespace {

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kCharsmapKey = "tokenizer.ggml.precompiled_charsmap";

tl::unexpected<Error> bad_key(std::string_view key, std::string message, Code code = Code::bad_data) {
  return fail(code, std::string(key), std::move(message) + "; convert the model again");
}

// An array of one element type (data null where the key is absent); an empty one's type carries nothing.
template <class T>
Result<std::span<const T>> array(const mortise_model& model, std::string_view key, mortise_type type) {
  mortise_meta value = {};
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return std::span<const T>();
  if (value.is_array == 0 || (value.type != static_cast<uint32_t>(type) && value.count != 0))
    return bad_key(key, "is no array of the right type");
  return std::span<const T>(static_cast<const T*>(value.data), value.count);
}

Result<void> read_pieces(const mortise_model& model, Model* out) {
  MORTISE_TRY(tokens, array<mortise_str>(model, kTokensKey, MORTISE_STRING));
  MORTISE_TRY(scores, array<double>(model, kScoresKey, MORTISE_FLOAT));
  MORTISE_TRY(types, array<int64_t>(model, kTypesKey, MORTISE_INT));
  if (tokens.empty()) return bad_key(kTokensKey, "is missing or empty");
  if (tokens.size() > kMaxPieces)
    return bad_key(
        kTokensKey,
        "has " + std::to_string(tokens.size()) + " entries; the limit is " + std::to_string(kMaxPieces),
        Code::limit);
  if (scores.size() != tokens.size())
    return bad_key(kScoresKey, "has " + std::to_string(scores.size()) + " entries for " +
                                   std::to_string(tokens.size()) + " tokens");
  if (types.data() != nullptr && types.size() != tokens.size())
    return bad_key(kTypesKey, "has " + std::to_string(types.size()) + " entries for " +
                                  std::to_string(tokens.size()) + " tokens");
  out->pieces.resize(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int64_t type = types.data() == nullptr ? 1 : types[i];
    if (type < 0 || type > 6)
      return bad_key(kTypesKey,
                     "entry " + std::to_string(i) + " is " + std::to_string(type) + ", outside 0 to 6");
    if (tokens[i].size > kMaxPieceBytes)
      return bad_key(kTokensKey,
                     "entry " + std::to_string(i) + " has " + std::to_string(tokens[i].size) +
                         " bytes; the limit is " + std::to_string(kMaxPieceBytes),
                     Code::limit);
    out->pieces[i] = {std::string(view(tokens[i])), static_cast<float>(scores[i]),
                      type == 0 ? PieceType::normal : static_cast<PieceType>(type)};
  }
  return {};
}

// Files that mark no bytes spell them all the same.
void mark_bytes(Model* out) {
  const auto is_byte = [](const Piece& piece) { return piece.type == PieceType::byte; };
  if (std::any_of(out->pieces.begin(), out->pieces.end(), is_byte)) return;
  for (Piece& piece : out->pieces)
    if (piece.type == PieceType::normal && byte_of_piece(piece.text) >= 0) piece.type = PieceType::byte;
}

Result<std::string> read_charsmap(const mortise_model& model) {
  MORTISE_TRY(values, array<int64_t>(model, kCharsmapKey, MORTISE_INT));
  if (values.size() > kMaxCharsmapBytes)
    return bad_key(
        kCharsmapKey,
        "has " + std::to_string(values.size()) + " bytes; the limit is " + std::to_string(kMaxCharsmapBytes),
        Code::limit);
  std::string out;
  out.reserve(values.size());
  for (const int64_t value : values) out.push_back(static_cast<char>(value));
  return out;
}

Result<int32_t> read_id(const mortise_model& model, std::string_view key, size_t count) {
  MORTISE_TRY(id, Metadata(&model).integer(key, INT64_MIN, INT64_MAX, kNoPiece));
  if (id != kNoPiece && (id < 0 || static_cast<uint64_t>(id) >= count))
    return bad_key(key,
                   "is " + std::to_string(id) + ", but the tokens are 0 to " + std::to_string(count - 1));
  return static_cast<int32_t>(id);
}

Result<bool> read_add(const mortise_model& model, std::string_view key, int32_t id, bool fallback) {
  MORTISE_TRY(add, meta_flag(model, key, fallback && id != kNoPiece));
  if (add && id == kNoPiece) return bad_key(key, "is true, but the file names no such token");
  return add;
}

Result<void> read_ids(const mortise_model& model, Model* out) {
  const size_t count = out->pieces.size();
  const bool is_bpe = out->algorithm == Algorithm::bpe;
  int32_t eot = kNoPiece, eom = kNoPiece, unknown = kNoPiece, padding = kNoPiece;
  const std::pair<std::string_view, int32_t*> keys[] = {
      {"tokenizer.ggml.bos_token_id", &out->bos},    {"tokenizer.ggml.eos_token_id", &out->eos},
      {"tokenizer.ggml.eot_token_id", &eot},         {"tokenizer.ggml.eom_token_id", &eom},
      {"tokenizer.ggml.unknown_token_id", &unknown}, {"tokenizer.ggml.padding_token_id", &padding}};
  for (const auto& [key, id] : keys) {
    MORTISE_TRY(value, read_id(model, key, count));
    *id = value;
  }
  MORTISE_TRY(add_bos, read_add(model, "tokenizer.ggml.add_bos_token", out->bos, is_bpe));
  MORTISE_TRY(add_eos, read_add(model, "tokenizer.ggml.add_eos_token", out->eos, !is_bpe));
  out->add_bos = add_bos;
  out->add_eos = add_eos;
  const auto mark = [&](int32_t id, PieceType type) {  // where the file has no types
    if (id != kNoPiece && out->pieces[static_cast<size_t>(id)].type == PieceType::normal)
      out->pieces[static_cast<size_t>(id)].type = type;
  };
  mark(unknown, PieceType::unknown);
  for (const int32_t id : {out->bos, out->eos, eot, eom, padding}) mark(id, PieceType::control);
  for (const int32_t id : {eot, eom})
    if (id != kNoPiece) out->ends.push_back(id);
  return {};
}

// Runs of blanks that the converter spelled as such (Gemma's): they are not cut out of a text but joined in
// it, before all else and by their ids, as the hub's tokenizer does it.
void mark_runs_of_blanks(Model* out) {
  constexpr float kAboveAll = 1e7f;
  for (size_t id = 0; id < out->pieces.size(); ++id) {
    Piece& piece = out->pieces[id];
    const size_t count = piece.text.size();
    if (piece.type != PieceType::user_defined || count < 2 ||
        piece.text.find_first_not_of(' ') != std::string::npos || count * kSpaceMark.size() > kMaxPieceBytes)
      continue;
    piece = {"", kAboveAll - static_cast<float>(id), PieceType::normal};
    for (size_t i = 0; i < count; ++i) piece.text += kSpaceMark;
  }
}

// Phi 3's special tokens take the blanks behind them, and each text between them begins with the dummy
// prefix.
void add_specials(bool is_phi3, Model* out) {
  out->prefix_after_special = is_phi3;
  for (size_t id = 0; id < out->pieces.size(); ++id) {
    const Piece& piece = out->pieces[id];
    const bool anywhere = piece.type == PieceType::user_defined, control = piece.type == PieceType::control;
    const bool strips =
        is_phi3 && control && static_cast<int32_t>(id) != out->bos && piece.text != "<|endoftext|>";
    if (anywhere || control || piece.type == PieceType::unknown)
      out->specials.push_back({piece.text, static_cast<int32_t>(id), anywhere, strips});
  }
}

}  // namespace

Result<Source> load_gguf(const mortise_model& model) {
  Source source;
  Model& out = source.model;
  out.where = kTokensKey;
  MORTISE_TRY(kind, Metadata(&model).text("tokenizer.ggml.model"));
  out.algorithm = kind == "t5" ? Algorithm::unigram : Algorithm::bpe;
  MORTISE_CHECK(read_pieces(model, &out));
  mark_bytes(&out);
  MORTISE_CHECK(read_ids(model, &out));
  mark_runs_of_blanks(&out);
  MORTISE_TRY(charsmap, read_charsmap(model));
  MORTISE_TRY(prefix, meta_flag(model, "tokenizer.ggml.add_space_prefix", true));
  MORTISE_TRY(trim, meta_flag(model, "tokenizer.ggml.remove_extra_whitespaces", false));
  out.normalization.charsmap = std::move(charsmap);
  out.normalization.add_dummy_prefix = prefix;
  out.normalization.remove_extra_whitespaces = trim;
  out.match_user_defined = false;  // they are cut out of the text before
  out.marks_in_user_defined = false;
  MORTISE_TRY(architecture, Metadata(&model).text("general.architecture", ""));
  add_specials(architecture == "phi3", &out);
  const auto find_special = [&](std::string_view text) { return find_special_piece(out, text); };
  for (const std::string_view text : hub::turn_ends(find_special)) out.ends.push_back(find_special(text));
  if (out.eos != kNoPiece) out.ends.push_back(out.eos);
  return source;
}

}  // namespace mortise::sentencepiece
