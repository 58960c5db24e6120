// See unigram.h. Thread rule: any thread, each with its own scratch. Flow: the inner loop of encoding.
//
// Sums are floats from the text's start on, as SentencePiece's are: with other roundings, ways of equal worth
// would be told apart differently.
#include "unigram.h"

#include <algorithm>
#include <limits>

namespace mortise::sentencepiece {
namespace {

constexpr uint32_t kUnreached = UINT32_MAX;

}  // namespace

Result<Unigram> Unigram::load(const Model& model, const Pieces& pieces) {
  Unigram out;
  float low = std::numeric_limits<float>::infinity();
  for (const Piece& piece : model.pieces)
    if (piece.type == PieceType::normal) low = std::min(low, piece.score);
  if (low == std::numeric_limits<float>::infinity())
    return fail(Code::bad_data, model.where, "holds no normal piece; the file is damaged");
  constexpr float kUnknownPenalty = 10;
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
  std::vector<Best>& best = scratch->best;                                // best[i]: the text before base + i
  const size_t reach = std::max(pieces.longest(), sizeof("\U0010FFFF"));  // of one step, in bytes
  best.assign(1 + reach, Best());
  size_t base = 0, reached = 0;  // best is set up to base + reached
  const auto offer = [&](size_t start, size_t end, int32_t id, float score) {
    while (reached < end - base) best[++reached].start = kUnreached;
    Best& place = best[end - base];
    const float sum = score + best[start - base].score;
    if (place.start == kUnreached || sum > place.score)
      place = {sum, static_cast<uint32_t>(start - base), id};
  };
  for (size_t at = 0; at < text.size();) {
    if (at == base + reached && at != base) {  // no piece crosses this place, so all ways agree before it
      emit(text.substr(base, at - base), pieces, first, scratch, ids);
      best[0].score = best[reached].score;
      base = at;
      reached = 0;
    }
    if (best.size() < at - base + reach + 1) best.resize(2 * best.size() + reach);
    const size_t size = character_size(text.substr(at));
    bool has_character = false;
    uint32_t node = Trie::kRoot;
    for (size_t i = at; i < text.size() && trie_.step(&node, text[i]); ++i) {
      const Trie::Node& found = trie_.node(node);
      if (found.value < 0) continue;
      offer(at, i + 1, found.value, found.score);
      has_character = has_character || i + 1 - at == size;
    }
    if (!has_character) offer(at, at + size, kNoPiece, unknown_score_);
    at += size;
  }
  emit(text.substr(base), pieces, first, scratch, ids);
}

// Appends the pieces of the best way over `text`, which begins where best does.
void Unigram::emit(std::string_view text, const Pieces& pieces, size_t first, Scratch* scratch,
                   std::vector<int32_t>* ids) const {
  std::vector<uint32_t>& ends = scratch->ends;
  ends.clear();
  for (auto end = static_cast<uint32_t>(text.size()); end > 0; end = scratch->best[end].start)
    ends.push_back(end);
  uint32_t begin = 0;
  for (size_t i = ends.size(); i-- > 0; begin = ends[i]) {
    const int32_t id = scratch->best[ends[i]].id;
    if (id == kNoPiece)
      pieces.append_unknown(text.substr(begin, ends[i] - begin), first, ids);
    else
      pieces.append(id, first, ids);
  }
}

}  // namespace mortise::sentencepiece
