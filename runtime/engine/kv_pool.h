// The pool of KV block ids: handed out on demand, reference counted, found again by content.
// Thread rule: the engine thread. Flow: the scheduler takes blocks before a step, seals those that the step
// has filled, and gives them back when a sequence ends; a sealed block nobody uses stays as cache until it is
// needed.
//
// A sealed block is known by its tokens and its parent's identity, and both are compared whole: a hash alone
// never decides. A block that is used anew gets a new generation, so that children of its old content are
// never found.
#pragma once
#include <mortise/attention.h>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mortise {

class KvPool {
 public:
  static constexpr uint32_t kBlockTokens = MORTISE_KV_BLOCK_TOKENS;

  /// Identity of sealed content: the chain of blocks from position 0 to here.
  struct Key {
    uint32_t block = UINT32_MAX;  // UINT32_MAX: a root, before position 0
    uint64_t generation = 0;      // of a root: its variant
    bool operator==(const Key&) const = default;
    /// Content under one variant is never found from another.
    static Key root(uint64_t variant) { return {UINT32_MAX, variant}; }
  };
  struct Prefix {
    std::vector<uint32_t> blocks;  // each with a reference of the caller's
    Key key;                       // of the last one
  };

  KvPool(uint32_t blocks, bool caches);

  /// The longest chain of sealed blocks from `root` on that holds tokens[0, limit); whole blocks only.
  Prefix find(const Key& root, const uint32_t* tokens, uint64_t limit);
  /// A block with one reference, its content undefined; evicts the cached block that was used least recently.
  /// Nothing where all are in use.
  std::optional<uint32_t> take();
  /// The caller's block holds these kBlockTokens tokens behind `parent`. Returns the key for its child.
  Key seal(uint32_t block, const Key& parent, const uint32_t* tokens);
  /// Drops one reference of each, the last first, so that a chain's end is evicted before its start.
  void release(const std::vector<uint32_t>& blocks);

  uint32_t size() const { return static_cast<uint32_t>(blocks_.size()); }
  uint32_t cached() const { return cached_; }
  /// Blocks that take can still hand out.
  uint32_t available() const { return static_cast<uint32_t>(free_.size()) + cached_; }

 private:
  struct Content {
    Key parent;
    std::array<uint32_t, kBlockTokens> tokens;
    bool operator==(const Content&) const = default;
  };
  struct ContentHash {
    size_t operator()(const Content& content) const;
  };
  struct Block {
    uint32_t references = 0;
    uint64_t generation = 1;
    bool is_sealed = false;
    Content content;
    uint32_t newer = UINT32_MAX,
             older = UINT32_MAX;  // neighbours in the order of last use, while unused and sealed
  };
  void push_cached(uint32_t block);
  void remove_cached(uint32_t block);

  std::vector<Block> blocks_;
  std::vector<uint32_t> free_;
  std::unordered_map<Content, uint32_t, ContentHash> sealed_;
  uint32_t newest_ = UINT32_MAX, oldest_ = UINT32_MAX;
  uint32_t cached_ = 0;
  const bool caches_;
};

}  // namespace mortise
