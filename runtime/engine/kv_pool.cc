// KvPool: references, content, order of last use. Thread rule and flow: see kv_pool.h.
#include "engine/kv_pool.h"

#include <algorithm>
#include <cassert>

namespace mortise {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

size_t KvPool::ContentHash::operator()(const Content& content) const {
  uint64_t hash = content.parent.block * 0x9e3779b97f4a7c15u ^ content.parent.generation;
  for (uint32_t token : content.tokens) {
    hash = (hash ^ token) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

KvPool::KvPool(uint32_t blocks, bool caches) : blocks_(blocks), caches_(caches) {
  free_.reserve(blocks);
  for (uint32_t i = blocks; i > 0; --i) free_.push_back(i - 1);
}

KvPool::Prefix KvPool::find(const Key& root, const uint32_t* tokens, uint64_t limit) {
  Prefix out{{}, root};
  for (uint64_t at = 0; at + kBlockTokens <= limit; at += kBlockTokens) {
    Content content{out.key, {}};
    std::copy_n(tokens + at, kBlockTokens, content.tokens.begin());
    auto found = sealed_.find(content);
    if (found == sealed_.end()) break;
    Block& block = blocks_[found->second];
    if (block.references++ == 0) remove_cached(found->second);
    out.blocks.push_back(found->second);
    out.key = {found->second, block.generation};
  }
  return out;
}

std::optional<uint32_t> KvPool::take() {
  uint32_t id = kNone;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else if (oldest_ != kNone) {
    id = oldest_;
    remove_cached(id);
    sealed_.erase(blocks_[id].content);
    blocks_[id].is_sealed = false;
  } else {
    return std::nullopt;
  }
  Block& block = blocks_[id];
  assert(block.references == 0 && !block.is_sealed);
  block.references = 1;
  ++block.generation;
  return id;
}

KvPool::Key KvPool::seal(uint32_t id, const Key& parent, const uint32_t* tokens) {
  Block& block = blocks_[id];
  assert(block.references > 0 && !block.is_sealed);
  if (!caches_) return {id, block.generation};
  Content content{parent, {}};
  std::copy_n(tokens, kBlockTokens, content.tokens.begin());
  auto [at, is_new] = sealed_.try_emplace(content, id);
  if (is_new) {
    block.is_sealed = true;
    block.content = content;
  }
  // Equal content computed twice keeps the first block's name, so that later ones find one chain.
  return {at->second, blocks_[at->second].generation};
}

void KvPool::release(const std::vector<uint32_t>& blocks) {
  for (auto at = blocks.rbegin(); at != blocks.rend(); ++at) {
    Block& block = blocks_[*at];
    assert(block.references > 0);
    if (--block.references > 0) continue;
    if (block.is_sealed)
      push_cached(*at);
    else
      free_.push_back(*at);
  }
}

void KvPool::push_cached(uint32_t id) {
  Block& block = blocks_[id];
  block.older = newest_;
  block.newer = kNone;
  if (newest_ != kNone) blocks_[newest_].newer = id;
  newest_ = id;
  if (oldest_ == kNone) oldest_ = id;
  ++cached_;
}

void KvPool::remove_cached(uint32_t id) {
  Block& block = blocks_[id];
  (block.newer == kNone ? newest_ : blocks_[block.newer].older) = block.older;
  (block.older == kNone ? oldest_ : blocks_[block.older].newer) = block.newer;
  --cached_;
}

}  // namespace mortise
