// SentencePiece models: what every source must keep to, and look-ups. Thread rule and flow: see model.h.
#include "sentencepiece/model.h"

#include <cmath>

namespace mortise::sentencepiece {

int byte_of_piece(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return -1;
  const size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  return high == std::string_view::npos || low == std::string_view::npos ? -1
                                                                         : static_cast<int>(high * 16 + low);
}

int32_t find_piece(const Model& model, std::string_view text) {
  for (size_t id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].text == text) return static_cast<int32_t>(id);
  return kNoPiece;
}

int32_t find_special_piece(const Model& model, std::string_view text) {
  const int32_t id = find_piece(model, text);
  if (id == kNoPiece) return id;
  const PieceType type = model.pieces[static_cast<size_t>(id)].type;
  return type == PieceType::control || type == PieceType::user_defined ? id : kNoPiece;
}

Result<void> check_pieces(const Model& model) {
  size_t total = 0;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    const std::string name = "piece " + std::to_string(id);
    if (piece.text.size() > kMaxPieceBytes)
      return fail(Code::limit, model.where,
                  name + " has " + std::to_string(piece.text.size()) + " bytes; the limit is " +
                      std::to_string(kMaxPieceBytes));
    if (!std::isfinite(piece.score))
      return fail(Code::bad_data, model.where,
                  name + " has a score that is not a finite number; the file is damaged");
    if (piece.type == PieceType::byte && byte_of_piece(piece.text) < 0)
      return fail(
          Code::bad_data, model.where,
          name + ", " + quoted(piece.text) + ", is a byte piece but names no byte; the file is damaged");
    total += piece.text.size();
  }
  if (model.pieces.size() > kMaxPieces || total > kMaxVocabularyBytes)
    return fail(Code::limit, model.where,
                "holds " + std::to_string(model.pieces.size()) + " pieces of " + std::to_string(total) +
                    " bytes; the limits are " + std::to_string(kMaxPieces) + " and " +
                    std::to_string(kMaxVocabularyBytes));
  return {};
}

}  // namespace mortise::sentencepiece
