// A text on its way through the pre-tokenizers: cut into pieces, and sometimes rewritten.
// Thread rule: one thread at a time. Flow: normalized text -> Pieces -> steps of the PreTokenizer -> words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pattern.h"

namespace mortise::hub {

struct Piece {
  uint32_t begin, end;
};

struct Pieces {
  std::string_view text;  // the pieces lie in it, in order; none is empty
  std::vector<Piece> list;
  bool at_start = false;  // the first piece begins where the whole input begins

  std::string_view operator[](size_t i) const {
    return text.substr(list[i].begin, list[i].end - list[i].begin);
  }

  /// The whole of a text as one piece; none where it is empty. The text must outlive the pieces.
  void reset(std::string_view whole, bool starts_input) {
    text = whole;
    list.clear();
    if (!whole.empty()) list.push_back({0, static_cast<uint32_t>(whole.size())});
    at_start = starts_input;
  }

  // Room for the steps, kept from text to text.
  std::vector<Piece> next;
  std::string storage, spare;
};

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// What a pattern says about a stretch of a piece.
struct Run {
  uint32_t begin, end;
  bool match;
};

/// Turns the runs of one piece (without gaps; empty ones may occur) into pieces, appended to `out`.
void append_pieces(std::vector<Run>* runs, SplitBehavior behavior, std::vector<Piece>* out);

/// Replaces each piece by what `cut(piece text, offset, &runs)` and `behavior` make of it.
template <class Cut>
Result<void> split_pieces(Pieces* pieces, SplitBehavior behavior, std::vector<Run>* runs, Cut&& cut) {
  pieces->next.clear();
  const bool had_start = pieces->at_start && !pieces->list.empty();
  const uint32_t start = had_start ? pieces->list[0].begin : 0;
  for (size_t i = 0; i < pieces->list.size(); ++i) {
    runs->clear();
    MORTISE_CHECK(cut((*pieces)[i], pieces->list[i].begin, runs));
    append_pieces(runs, behavior, &pieces->next);
  }
  pieces->list.swap(pieces->next);
  pieces->at_start = had_start && !pieces->list.empty() && pieces->list[0].begin == start;
  return {};
}

/// The runs of a piece by a pattern.
Result<void> runs_of(const Pattern& pattern, std::string_view piece, uint32_t offset, MatchScratch* scratch,
                     std::vector<Run>* runs);

}  // namespace mortise::hub
