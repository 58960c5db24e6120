// See pieces.h. Thread rule: pure functions. Flow: encoding, within the pre-tokenizers.
#include "tokenizer/pieces.h"

namespace mortise::hub {
namespace {

void push(uint32_t begin, uint32_t end, std::vector<Piece>* out) {
  if (begin < end) out->push_back({begin, end});
}

// Matches are joined to what stands before them, unless that is a match too.
void merge_with_previous(const std::vector<Run>& runs, std::vector<Piece>* out) {
  size_t i = 0;
  while (i < runs.size()) {
    const uint32_t begin = runs[i].begin;
    uint32_t end = runs[i].end;
    if (!runs[i].match && i + 1 < runs.size() && runs[i + 1].match) end = runs[++i].end;
    push(begin, end, out);
    ++i;
  }
}

void merge_with_next(const std::vector<Run>& runs, std::vector<Piece>* out) {
  size_t i = 0;
  while (i < runs.size()) {
    const uint32_t begin = runs[i].begin;
    uint32_t end = runs[i].end;
    if (runs[i].match && i + 1 < runs.size() && !runs[i + 1].match) end = runs[++i].end;
    push(begin, end, out);
    ++i;
  }
}

void join_equal(const std::vector<Run>& runs, std::vector<Piece>* out) {
  for (size_t i = 0; i < runs.size();) {
    const Run first = runs[i];
    uint32_t end = first.end;
    for (++i; i < runs.size() && runs[i].match == first.match; ++i) end = runs[i].end;
    push(first.begin, end, out);
  }
}

}  // namespace

void append_pieces(std::vector<Run>* runs, SplitBehavior behavior, std::vector<Piece>* out) {
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Run& run : *runs)
        if (!run.match) push(run.begin, run.end, out);
      return;
    case SplitBehavior::isolated:
      for (const Run& run : *runs) push(run.begin, run.end, out);
      return;
    case SplitBehavior::merged_with_previous:
      return merge_with_previous(*runs, out);
    case SplitBehavior::merged_with_next:
      return merge_with_next(*runs, out);
    case SplitBehavior::contiguous:
      return join_equal(*runs, out);
  }
}

Result<void> runs_of(const Pattern& pattern, std::string_view piece, uint32_t offset, MatchScratch* scratch,
                     std::vector<Run>* runs) {
  uint32_t done = 0;
  MORTISE_CHECK(pattern.each(piece, scratch, [&](Range match) {
    const auto begin = static_cast<uint32_t>(match.begin), end = static_cast<uint32_t>(match.end);
    if (begin != done) runs->push_back({offset + done, offset + begin, false});
    runs->push_back({offset + begin, offset + end, true});
    done = end;
  }));
  if (done != piece.size())
    runs->push_back({offset + done, offset + static_cast<uint32_t>(piece.size()), false});
  return {};
}

}  // namespace mortise::hub
