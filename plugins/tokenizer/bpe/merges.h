// The merge rules and their application to one piece of text.
// Thread rule: immutable after load, any thread; a MergeScratch serves one thread at a time.
// Flow: files -> rules -> MergeTable; encoding: symbols of a word -> merge() -> tokens.
#pragma once
#include <cstdint>
#include <vector>

#include "vocabulary.h"

namespace mortise::bpe {

constexpr size_t kMaxMerges = size_t{1} << 22;  // 4,194,304; docs/limits.md

constexpr uint32_t kNoRank = UINT32_MAX;

/// What two neighbours become, and how early the rule was learnt: lower ranks are applied first.
struct Merge {
  uint32_t rank = kNoRank;
  int32_t id = kNoToken;
};

/// Two neighbours, what they become, and how early the rule was learnt.
struct Rule {
  int32_t left, right, result;
  uint32_t rank;
};

/// Buffers of merge(), kept from piece to piece.
struct MergeScratch {
  std::vector<Merge> pairs;
  std::vector<uint32_t> next, previous;
  std::vector<uint64_t> heap;
};

class MergeTable {
 public:
  /// Of equal pairs the last counts, as in the hub's tokenizers. At most kMaxMerges rules.
  explicit MergeTable(const std::vector<Rule>& rules);
  MergeTable() : MergeTable(std::vector<Rule>()) {}

  /// The rule for two neighbours; rank kNoRank where there is none.
  Merge find(int32_t left, int32_t right) const {
    const uint64_t key = pair_key(left, right);
    for (size_t slot = slot_of(key);; slot = (slot + 1) & mask_) {
      const Slot& entry = slots_[slot];
      if (entry.key == key) return entry.merge;
      if (entry.key == kEmpty) return Merge();
    }
  }

  /// Applies the rules to `symbols` in place: always the lowest rank, of equal ranks the leftmost.
  /// O(n log n) in the number of symbols.
  void merge(std::vector<int32_t>* symbols, MergeScratch* scratch) const;

 private:
  struct Slot {
    uint64_t key;
    Merge merge;
  };
  static constexpr uint64_t kEmpty = UINT64_MAX;  // no pair: ids are not negative

  static uint64_t pair_key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t key) const;
  void insert(uint64_t key, Merge merge);
  void merge_short(std::vector<int32_t>* symbols, MergeScratch* scratch) const;
  void merge_long(std::vector<int32_t>* symbols, MergeScratch* scratch) const;

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace mortise::bpe
