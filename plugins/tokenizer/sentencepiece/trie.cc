// Builds a Trie breadth first, so that the nodes near the root, which every walk meets, lie together.
// Thread rule: one thread per build. Flow: load time.
#include "trie.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace mortise::sentencepiece {

class TrieBuilder {
 public:
  Result<Trie> build(std::vector<Trie::Entry> entries);

 private:
  // The entries [begin, end) agree in `depth` bytes, which lead to `node`.
  struct Task {
    uint32_t node;
    size_t begin, end, depth;
  };
  // 256 places, and which of them are free.
  struct Block {
    uint32_t begin;
    uint64_t free[4];
    bool is_free(uint32_t i) const { return (free[i / 64] >> (i % 64) & 1) != 0; }
  };
  static constexpr size_t kOpenBlocks = 8;  // older ones are as good as full

  void add_block();
  bool fits(const Block& block, uint32_t first) const;
  uint32_t find_place();
  void take(Block* block, uint32_t i) { block->free[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  void split(const Task& task);

  Trie trie_;
  std::vector<Trie::Entry> entries_;
  std::deque<Block> open_;
  std::deque<Task> tasks_;
  std::vector<uint8_t> labels_;  // of the node at work
  std::vector<size_t> starts_;   // where each label's entries begin
};

void TrieBuilder::add_block() {
  const auto begin = static_cast<uint32_t>(trie_.nodes_.size());
  trie_.nodes_.resize(begin + 256);
  open_.push_back({begin, {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}});
  if (open_.size() > kOpenBlocks) open_.pop_front();
}

bool TrieBuilder::fits(const Block& block, uint32_t first) const {
  const uint32_t base = first ^ labels_[0];
  for (size_t i = 1; i < labels_.size(); ++i)
    if (!block.is_free(base ^ labels_[i])) return false;
  return true;
}

// A value for Node::children at which every label's place is free; it takes them.
uint32_t TrieBuilder::find_place() {
  while (true) {
    for (Block& block : open_) {
      for (uint32_t word = 0; word < 4; ++word) {
        for (uint64_t left = block.free[word]; left != 0; left &= left - 1) {
          const uint32_t first = word * 64 + static_cast<uint32_t>(std::countr_zero(left));
          if (!fits(block, first)) continue;
          const uint32_t base = first ^ labels_[0];
          for (const uint8_t label : labels_) take(&block, base ^ label);
          return block.begin + base;
        }
      }
    }
    add_block();
  }
}

void TrieBuilder::split(const Task& task) {
  size_t begin = task.begin;
  if (entries_[begin].text.size() == task.depth) {  // sorted: the shortest stands first
    Trie::Node& node = trie_.nodes_[task.node];
    node.value = entries_[begin].value;
    node.score = entries_[begin].score;
    while (begin < task.end && entries_[begin].text.size() == task.depth) ++begin;
  }
  if (begin == task.end) return;
  labels_.clear();
  starts_.clear();
  for (size_t i = begin; i < task.end; ++i) {
    const auto label = static_cast<uint8_t>(entries_[i].text[task.depth]);
    if (!labels_.empty() && labels_.back() == label) continue;
    labels_.push_back(label);
    starts_.push_back(i);
  }
  starts_.push_back(task.end);
  const uint32_t children = find_place();
  trie_.nodes_[task.node].children = children;
  for (size_t i = 0; i < labels_.size(); ++i) {
    const uint32_t child = children ^ labels_[i];
    trie_.nodes_[child].parent = task.node;
    tasks_.push_back({child, starts_[i], starts_[i + 1], task.depth + 1});
  }
}

Result<Trie> TrieBuilder::build(std::vector<Trie::Entry> entries) {
  entries_ = std::move(entries);
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Trie::Entry& a, const Trie::Entry& b) { return a.text < b.text; });
  trie_.nodes_.clear();
  add_block();
  take(&open_.back(), Trie::kRoot);
  if (!entries_.empty()) tasks_.push_back({Trie::kRoot, 0, entries_.size(), 0});
  while (!tasks_.empty()) {
    const Task task = tasks_.front();
    tasks_.pop_front();
    split(task);
    if (trie_.nodes_.size() > kMaxTrieNodes)
      return fail(Code::limit, "vocabulary",
                  "needs a trie of more than " + std::to_string(kMaxTrieNodes) + " nodes, the limit");
  }
  return std::move(trie_);
}

Result<Trie> Trie::build(std::vector<Entry> entries) { return TrieBuilder().build(std::move(entries)); }

}  // namespace mortise::sentencepiece
