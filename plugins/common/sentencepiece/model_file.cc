// read_model_file: SentencePiece's ModelProto. Thread rule: pure. Flow: tokenizer.model -> Model.
//
// Field numbers are those of sentencepiece_model.proto. What SentencePiece refuses is refused here too.
#include <array>
#include <cmath>

#include "sentencepiece/model.h"
#include "sentencepiece/protobuf.h"

namespace mortise::sentencepiece {
namespace {

// What the trainer says and a tokenizer needs, with the defaults of the format.
struct Trainer {
  int64_t model_type = 1;
  bool whitespace_as_suffix = false;
  bool byte_fallback = false;
  std::string bos = "<s>", eos = "</s>", unknown_surface = " \xE2\x81\x87 ";
};

Result<Piece> read_piece(Message message) {
  Piece piece;
  while (!message.done()) {
    MORTISE_TRY(field, message.next());
    if (field.number == 1) {
      MORTISE_TRY(text, message.bytes(field, "a piece's text"));
      if (text.size() > kMaxPieceBytes)
        return message.bad(field, "a piece has " + std::to_string(text.size()) + " bytes; the limit is " +
                                      std::to_string(kMaxPieceBytes));
      piece.text = text;
    } else if (field.number == 2) {
      MORTISE_TRY(score, message.number(field, "a piece's score"));
      if (!std::isfinite(score))
        return message.bad(field, "a piece's score is not a finite number; the file is damaged");
      piece.score = score;
    } else if (field.number == 3) {
      MORTISE_TRY(type, message.integer(field, "a piece's type"));
      if (type < 1 || type > 6)
        return message.bad(
            field, "a piece's type is " + std::to_string(type) + ", outside 1 to 6; the file is damaged");
      piece.type = static_cast<PieceType>(type);
    }
  }
  return piece;
}

Result<void> read_trainer(Message message, Trainer* out) {
  while (!message.done()) {
    MORTISE_TRY(field, message.next());
    const auto text = [&](std::string* to, std::string_view what) -> Result<void> {
      MORTISE_TRY(bytes, message.bytes(field, what));
      if (bytes.size() > kMaxPieceBytes)
        return message.bad(field, std::string(what) + " is longer than " + std::to_string(kMaxPieceBytes) +
                                      " bytes, the limit");
      *to = bytes;
      return {};
    };
    const auto flag = [&](bool* to, std::string_view what) -> Result<void> {
      MORTISE_TRY(value, message.boolean(field, what));
      *to = value;
      return {};
    };
    if (field.number == 3) {
      MORTISE_TRY(type, message.integer(field, "model_type"));
      if (type != 1 && type != 2)
        return fail(Code::unsupported, "",
                    "model_type is " + std::to_string(type) +
                        " (word or character); unigram (1) and BPE (2) are read");
      out->model_type = type;
    }
    if (field.number == 24) MORTISE_CHECK(flag(&out->whitespace_as_suffix, "treat_whitespace_as_suffix"));
    if (field.number == 35) MORTISE_CHECK(flag(&out->byte_fallback, "byte_fallback"));
    if (field.number == 44) MORTISE_CHECK(text(&out->unknown_surface, "unk_surface"));
    if (field.number == 46) MORTISE_CHECK(text(&out->bos, "bos_piece"));
    if (field.number == 47) MORTISE_CHECK(text(&out->eos, "eos_piece"));
  }
  return {};
}

Result<void> read_normalizer(Message message, Normalization* out) {
  while (!message.done()) {
    MORTISE_TRY(field, message.next());
    const auto flag = [&](bool* to, std::string_view what) -> Result<void> {
      MORTISE_TRY(value, message.boolean(field, what));
      *to = value;
      return {};
    };
    if (field.number == 2) {
      MORTISE_TRY(bytes, message.bytes(field, "precompiled_charsmap"));
      out->charsmap = bytes;
    }
    if (field.number == 3) MORTISE_CHECK(flag(&out->add_dummy_prefix, "add_dummy_prefix"));
    if (field.number == 4) MORTISE_CHECK(flag(&out->remove_extra_whitespaces, "remove_extra_whitespaces"));
    if (field.number == 5) MORTISE_CHECK(flag(&out->escape_whitespaces, "escape_whitespaces"));
  }
  return {};
}

// A denormalizer would change decoded text as a whole, which no stream of pieces can follow.
Result<void> check_denormalizer(const Message& outer, const Field& field) {
  MORTISE_TRY(message, outer.message(field, "denormalizer_spec"));
  while (!message.done()) {
    MORTISE_TRY(inner, message.next());
    if (inner.number == 2 && !inner.bytes.empty())
      return message.bad(inner, "has a denormalizer, which is not supported; train the model without one");
  }
  return {};
}

// SentencePiece's own rules for a vocabulary.
Result<void> check_kinds(const Model& model, const Trainer& trainer) {
  const auto bad = [&](std::string message) {
    return fail(Code::bad_data, model.where, std::move(message) + "; the file is damaged");
  };
  std::array<bool, 256> bytes{};
  size_t unknown = 0;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    if (piece.text.empty()) return bad("piece " + std::to_string(id) + " is empty");
    if (piece.type == PieceType::unknown && ++unknown > 1)
      return bad("piece " + std::to_string(id) + " is a second unknown piece");
    if (piece.type != PieceType::byte) continue;
    const int byte = byte_of_piece(piece.text);
    if (byte < 0)
      return bad("piece " + std::to_string(id) + ", " + quoted(piece.text) +
                 ", is a byte piece but names no byte");
    if (!trainer.byte_fallback)
      return bad("piece " + std::to_string(id) + " is a byte piece, but byte_fallback is off");
    bytes[static_cast<size_t>(byte)] = true;
  }
  if (unknown == 0) return bad("no piece is the unknown one");
  for (size_t byte = 0; byte < 256 && trainer.byte_fallback; ++byte)
    if (!bytes[byte]) return bad("byte_fallback is on, but byte " + std::to_string(byte) + " has no piece");
  return {};
}

int32_t find_control(const Model& model, std::string_view text) {
  for (size_t id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].type == PieceType::control && model.pieces[id].text == text)
      return static_cast<int32_t>(id);
  return kNoPiece;
}

}  // namespace

Result<Model> read_model_file(std::string_view bytes, const std::string& where) {
  Model model;
  model.where = where;
  Trainer trainer;
  Message message(bytes, 0, where);
  size_t total = 0;
  while (!message.done()) {
    MORTISE_TRY(field, message.next());
    if (field.number == 1) {
      MORTISE_TRY(inner, message.message(field, "a piece"));
      MORTISE_TRY(piece, read_piece(std::move(inner)));
      if (model.pieces.size() == kMaxPieces || piece.text.size() > kMaxVocabularyBytes - total)
        return message.bad(field, "holds more than " + std::to_string(kMaxPieces) + " pieces or " +
                                      std::to_string(kMaxVocabularyBytes) + " bytes of them, the limits");
      total += piece.text.size();
      model.pieces.push_back(std::move(piece));
    } else if (field.number == 2) {
      MORTISE_TRY(inner, message.message(field, "trainer_spec"));
      MORTISE_CHECK(read_trainer(std::move(inner), &trainer));
    } else if (field.number == 3) {
      MORTISE_TRY(inner, message.message(field, "normalizer_spec"));
      MORTISE_CHECK(read_normalizer(std::move(inner), &model.normalization));
    } else if (field.number == 5) {
      MORTISE_CHECK(check_denormalizer(message, field));
    }
  }
  if (model.pieces.empty())
    return fail(Code::bad_data, where, "holds no pieces; is it a SentencePiece model?", 0);
  MORTISE_CHECK(check_kinds(model, trainer));
  model.algorithm = trainer.model_type == 2 ? Algorithm::bpe : Algorithm::unigram;
  model.normalization.whitespace_as_suffix = trainer.whitespace_as_suffix;
  model.unknown_surface = trainer.unknown_surface;
  model.bos = find_control(model, trainer.bos);
  model.eos = find_control(model, trainer.eos);
  return model;
}

}  // namespace mortise::sentencepiece
