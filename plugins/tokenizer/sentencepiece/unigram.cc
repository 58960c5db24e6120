// See unigram.h. Thread rule: any thread, each with its own scratch. Flow: the inner loop of encoding.
#include "unigram.h"

#include <algorithm>
#include <limits>

namespace mortise::sentencepiece {
Result<Unigram> Unigram::load(const Model& model, const Pieces& pieces) {
  Unigram out;
  float low = std::numeric_limits<float>::infinity();
  for (const Piece& piece : model.pieces)
    if (piece.type == PieceType::normal) low = std::min(low, piece.score);
  if (low == std::numeric_limits<float>::infinity())
    return fail(Code::bad_data, model.where, "holds no normal piece; the file is damaged");
  out.unknown_score_ = low - kUnknownPenalty;
  std::vector<Trie::Entry> entries;
  for (int32_t id = 0; id < pieces.size(); ++id) {
    const std::string_view text = pieces.text(id);
    const PieceType type = pieces.type(id);
    if (text.empty() || (type != PieceType::normal && type != PieceType::user_defined) ||
        pieces.find(text) != id)
      continue;
    // A user-defined piece is worth more than any other way over its bytes, a longer one more than shorter
    // ones.
    const auto bonus = static_cast<float>(0.1 * static_cast<double>(text.size()) - 0.1);
    const float score = type == PieceType::user_defined ? bonus : pieces.score(id);
    entries.push_back({text, id, score});
  }
  MORTISE_TRY(trie, Trie::build(std::move(entries)));
  out.trie_ = std::move(trie);
  return out;
}

void Unigram::encode(std::string_view text, const Pieces& pieces, Scratch* scratch,
                     std::vector<int32_t>* ids) const {
  const size_t first = ids->size();
  scratch->run(
      text, trie_, pieces.longest(), unknown_score_, [](const Trie::Node& node) { return node.score; },
      [&](std::string_view part, int32_t id) {
        if (id == kNoPiece)
          pieces.append_unknown(part, first, ids);
        else
          pieces.append(id, first, ids);
      });
}

}  // namespace mortise::sentencepiece
