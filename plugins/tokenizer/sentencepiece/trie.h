// A set of texts, walked byte by byte: a double array (Aoe 1989) with the offset joined by exclusive or, as
// Darts-clone does. Thread rule: immutable after build, any thread. Flow: pieces -> Trie -> unigram,
// matchers.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mortise::sentencepiece {

constexpr size_t kMaxTrieNodes = size_t{1} << 24;  // 256 MiB; docs/limits.md

class Trie {
 public:
  struct Entry {
    std::string_view text;  // not empty; of equal texts the first counts
    int32_t value = 0;      // not negative
    float score = 0;
  };
  struct Node {
    uint32_t parent = UINT32_MAX;  // of a free place none
    uint32_t children = 0;         // the child by a byte stands at children ^ byte
    int32_t value = -1;            // -1: no text ends here
    float score = 0;
  };

  /// Nothing is in it.
  Trie() : nodes_(256) {}
  static Result<Trie> build(std::vector<Entry> entries);

  static constexpr uint32_t kRoot = 0;
  const Node& node(uint32_t at) const { return nodes_[at]; }
  /// The node behind `at` by a byte; false where there is none.
  bool step(uint32_t* at, char byte) const {
    const uint32_t child = nodes_[*at].children ^ static_cast<uint8_t>(byte);
    if (nodes_[child].parent != *at) return false;
    *at = child;
    return true;
  }
  /// True where some text begins with this byte.
  bool begins(char byte) const {
    uint32_t at = kRoot;
    return step(&at, byte);
  }
  /// The longest text that `text` begins with: its size, and its value. 0: none.
  size_t longest(std::string_view text, int32_t* value) const {
    size_t best = 0;
    uint32_t at = kRoot;
    for (size_t i = 0; i < text.size() && step(&at, text[i]); ++i) {
      if (nodes_[at].value < 0) continue;
      best = i + 1;
      *value = nodes_[at].value;
    }
    return best;
  }

 private:
  friend class TrieBuilder;
  std::vector<Node> nodes_;
};

}  // namespace mortise::sentencepiece
