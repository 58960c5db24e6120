// KV memory: the bytes behind block ids, and the attention plugin that knows what they mean.
// Thread rule: made on the loading thread; workers write the blocks of their rows. Flow: sized from the
// graph's groups and the chosen layout; the engine hands out block ids, Program passes the slots' memory to
// the plugin.
#pragma once
#include <mortise/attention.h>
#include <mortise/cpp/result.h>

#include <vector>

#include "model/chooser.h"
#include "model/graph.h"

namespace mortise {

/// An attention plugin with one of its layouts.
struct AttentionChoice {
  const Provider* provider = nullptr;
  const mortise_attention* calls = nullptr;
  const mortise_kv_layout* layout = nullptr;
  uint32_t layout_index = 0;
};

/// The provider's layout named `dtype`; checked against every attention layer of the graph. Errors name the
/// setting.
Result<AttentionChoice> choose_layout(const Provider& provider, const Graph& graph, const Pipeline& pipeline);

class KvStore {
 public:
  KvStore() = default;
  static KvStore plan(const Graph& graph, const AttentionChoice& attention);
  ~KvStore();
  KvStore(KvStore&& other) noexcept;
  KvStore& operator=(KvStore&& other) noexcept;
  KvStore(const KvStore&) = delete;
  KvStore& operator=(const KvStore&) = delete;

  /// Bytes of a block of MORTISE_KV_BLOCK_TOKENS tokens over all slots.
  uint64_t block_bytes() const { return block_bytes_; }
  /// Takes address space for `blocks` blocks; pages come when they are written.
  Result<void> allocate(uint64_t blocks);
  /// Start of a slot's blocks.
  void* slot(uint32_t index) const { return slots_[index]; }

 private:
  uint64_t block_bytes_ = 0;
  std::vector<uint64_t> slot_bytes_;  // of one block
  std::vector<void*> slots_;
  void* memory_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace mortise
