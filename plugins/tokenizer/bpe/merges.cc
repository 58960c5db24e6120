// See merges.h. Thread rule: immutable after load, any thread. Flow: load time, and the inner loop of
// encoding.
#include "merges.h"

#include <algorithm>
#include <functional>

#include "hash.h"

namespace mortise::bpe {
namespace {

// Up to here a scan over all pairs costs less than the heap.
constexpr size_t kShortPiece = 32;

constexpr uint32_t kNowhere = UINT32_MAX;

uint64_t heap_entry(uint32_t rank, uint32_t at) { return static_cast<uint64_t>(rank) << 32 | at; }

}  // namespace

MergeTable::MergeTable(const std::vector<Rule>& rules)
    : slots_(table_slots(rules.size()), Slot{kEmpty, Merge()}),
      mask_(slots_.size() - 1),
      seed_(random_seed()) {
  for (const Rule& rule : rules) insert(pair_key(rule.left, rule.right), Merge{rule.rank, rule.result});
}

size_t MergeTable::slot_of(uint64_t key) const { return hash_mix(key ^ seed_, kHashOdd) & mask_; }

void MergeTable::insert(uint64_t key, Merge merge) {
  size_t slot = slot_of(key);
  while (slots_[slot].key != kEmpty && slots_[slot].key != key) slot = (slot + 1) & mask_;
  slots_[slot] = Slot{key, merge};
}

void MergeTable::merge(std::vector<int32_t>* symbols, MergeScratch* scratch) const {
  if (symbols->size() < 2) return;
  if (symbols->size() <= kShortPiece) {
    merge_short(symbols, scratch);
  } else {
    merge_long(symbols, scratch);
  }
}

void MergeTable::merge_short(std::vector<int32_t>* symbols, MergeScratch* scratch) const {
  std::vector<int32_t>& ids = *symbols;
  std::vector<Merge>& pairs = scratch->pairs;  // pairs[i]: the rule for ids[i] and ids[i + 1]
  pairs.clear();
  for (size_t i = 0; i + 1 < ids.size(); ++i) pairs.push_back(find(ids[i], ids[i + 1]));
  while (!pairs.empty()) {
    const auto by_rank = [](const Merge& a, const Merge& b) { return a.rank < b.rank; };
    const auto best =
        static_cast<size_t>(std::min_element(pairs.begin(), pairs.end(), by_rank) - pairs.begin());
    if (pairs[best].rank == kNoRank) return;
    ids[best] = pairs[best].id;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(best) + 1);
    pairs.erase(pairs.begin() + static_cast<ptrdiff_t>(best));
    if (best > 0) pairs[best - 1] = find(ids[best - 1], ids[best]);
    if (best < pairs.size()) pairs[best] = find(ids[best], ids[best + 1]);
  }
}

// A list over the symbols and a heap of the rules that apply. Entries aren't taken out when a neighbour
// changes: one counts only while the rule of its place still has its rank.
void MergeTable::merge_long(std::vector<int32_t>* symbols, MergeScratch* scratch) const {
  std::vector<int32_t>& ids = *symbols;
  std::vector<uint32_t>&next = scratch->next, &previous = scratch->previous;
  std::vector<uint64_t>& heap = scratch->heap;
  std::vector<Merge>& pairs = scratch->pairs;  // pairs[i]: the rule for symbol i and the one behind it
  const auto count = static_cast<uint32_t>(ids.size());
  next.resize(count);
  previous.resize(count);
  pairs.resize(count);
  heap.clear();
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNowhere;
    previous[i] = i > 0 ? i - 1 : kNowhere;
    pairs[i] = i + 1 < count ? find(ids[i], ids[i + 1]) : Merge();
    if (pairs[i].rank != kNoRank) heap.push_back(heap_entry(pairs[i].rank, i));
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto renew = [&](uint32_t at) {
    pairs[at] = next[at] == kNowhere ? Merge() : find(ids[at], ids[next[at]]);
    if (pairs[at].rank == kNoRank) return;
    heap.push_back(heap_entry(pairs[at].rank, at));
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto at = static_cast<uint32_t>(heap.back());
    const auto rank = static_cast<uint32_t>(heap.back() >> 32);
    heap.pop_back();
    if (pairs[at].rank != rank) continue;
    const uint32_t gone = next[at];
    ids[at] = pairs[at].id;
    pairs[gone] = Merge();
    next[at] = next[gone];
    if (next[at] != kNowhere) previous[next[at]] = at;
    renew(at);
    if (previous[at] != kNowhere) renew(previous[at]);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i != kNowhere; i = next[i]) ids[kept++] = ids[i];
  ids.resize(kept);
}

}  // namespace mortise::bpe
