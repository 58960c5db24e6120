// The steps that pre-tokenizers are made of.
// Thread rule: immutable, any thread. Flow: made by PreTokenizer::load, run while encoding.
#pragma once
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/chars.h"
#include "tokenizer/pre_tokenizers.h"

namespace mortise::hub {

struct PatternSplit final : SplitStep {
  Result<void> run(Pieces* pieces, MatchScratch* scratch) const override {
    std::vector<Run> runs;
    return split_pieces(pieces, behavior, &runs,
                        [&](std::string_view piece, uint32_t offset, std::vector<Run>* out) -> Result<void> {
                          MORTISE_CHECK(runs_of(pattern, piece, offset, scratch, out));
                          for (size_t i = 0; invert && i < out->size(); ++i)
                            (*out)[i].match = !(*out)[i].match;
                          return {};
                        });
  }
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;
};

/// Cuts by a class of characters, each a match by itself.
struct ClassSplit final : SplitStep {
  using Class = bool (*)(uint32_t point);
  ClassSplit(Class wanted, SplitBehavior how) : in_class(wanted), behavior(how) {}
  Result<void> run(Pieces* pieces, MatchScratch*) const override {
    std::vector<Run> runs;
    return split_pieces(pieces, behavior, &runs,
                        [&](std::string_view piece, uint32_t offset, std::vector<Run>* out) -> Result<void> {
                          cut(piece, offset, out);
                          return {};
                        });
  }
  void cut(std::string_view piece, uint32_t offset, std::vector<Run>* runs) const {
    uint32_t done = 0;
    for (size_t at = 0; at < piece.size();) {
      const auto begin = static_cast<uint32_t>(at);
      if (!in_class(next_char(piece, &at))) continue;
      if (begin != done) runs->push_back({offset + done, offset + begin, false});
      done = static_cast<uint32_t>(at);
      runs->push_back({offset + begin, offset + done, true});
    }
    if (done != piece.size())
      runs->push_back({offset + done, offset + static_cast<uint32_t>(piece.size()), false});
  }
  Class in_class;
  SplitBehavior behavior;
};

/// Rewrites each piece by `rewrite(piece, at_start, &out)`.
template <class Rewrite>
Result<void> rewrite_pieces(Pieces* pieces, MatchScratch* scratch, Rewrite&& rewrite) {
  std::string out = std::move(pieces->spare);
  out.clear();
  pieces->next.clear();
  for (size_t i = 0; i < pieces->list.size(); ++i) {
    const auto begin = static_cast<uint32_t>(out.size());
    rewrite((*pieces)[i], pieces->at_start && i == 0, &out);
    pieces->next.push_back({begin, static_cast<uint32_t>(out.size())});
  }
  pieces->list.swap(pieces->next);
  pieces->spare.swap(pieces->storage);
  pieces->storage = std::move(out);
  pieces->text = pieces->storage;
  return scratch->count_bytes(pieces->text.size());
}

enum class Prepend { always, first, never };

/// Blanks become `mark`, one is put in front, and pieces begin at each.
struct MetaspaceSplit final : SplitStep {
  Result<void> run(Pieces* pieces, MatchScratch* scratch) const override {
    MORTISE_CHECK(
        rewrite_pieces(pieces, scratch, [&](std::string_view piece, bool at_start, std::string* out) {
          const bool has_mark = piece[0] == ' ' || piece.substr(0, mark.size()) == mark;
          if (!has_mark && (prepend == Prepend::always || (prepend == Prepend::first && at_start)))
            *out += mark;
          for (const char byte : piece) {
            if (byte == ' ')
              *out += mark;
            else
              *out += byte;
          }
        }));
    if (!split) return {};
    std::vector<Run> runs;
    return split_pieces(pieces, SplitBehavior::merged_with_next, &runs,
                        [&](std::string_view piece, uint32_t offset, std::vector<Run>* out) {
                          return runs_of(mark_pattern, piece, offset, scratch, out);
                        });
  }
  std::string mark;
  Pattern mark_pattern;
  Prepend prepend = Prepend::always;
  bool split = true;
};

/// ByteLevel's add_prefix_space: a blank before each piece that has none.
struct PrefixSpace final : SplitStep {
  Result<void> run(Pieces* pieces, MatchScratch* scratch) const override {
    return rewrite_pieces(pieces, scratch, [](std::string_view piece, bool, std::string* out) {
      if (piece[0] != ' ') *out += ' ';
      out->append(piece);
    });
  }
};

/// Bytes to the characters of the byte alphabet.
struct SpellBytes final : SplitStep {
  Result<void> run(Pieces* pieces, MatchScratch* scratch) const override {
    return rewrite_pieces(
        pieces, scratch, [](std::string_view piece, bool, std::string* out) { append_spelling(piece, out); });
  }
};

/// Pieces of `length` characters.
struct FixedLength final : SplitStep {
  Result<void> run(Pieces* pieces, MatchScratch*) const override {
    std::vector<Run> runs;
    return split_pieces(pieces, SplitBehavior::isolated, &runs,
                        [&](std::string_view piece, uint32_t offset, std::vector<Run>* out) -> Result<void> {
                          for (size_t at = 0; at < piece.size();) {
                            const auto begin = static_cast<uint32_t>(at);
                            for (size_t i = 0; i < length && at < piece.size(); ++i) next_char(piece, &at);
                            out->push_back({offset + begin, offset + static_cast<uint32_t>(at), true});
                          }
                          return {};
                        });
  }
  size_t length = 5;
};

}  // namespace mortise::hub
