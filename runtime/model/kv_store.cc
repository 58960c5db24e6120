// KvStore: sizes, address space. Thread rule and flow: see kv_store.h.
#include "model/kv_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "config/nearest.h"

namespace mortise {

Result<AttentionChoice> choose_layout(const Provider& provider, const Graph& graph,
                                      const Pipeline& pipeline) {
  AttentionChoice out{&provider, &provider.table<mortise_attention>()};
  uint32_t count = 0;
  const mortise_kv_layout* const* layouts = out.calls->layouts(provider.self, &count);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) {
    names.emplace_back(layouts[i]->name);
    if (names.back() == pipeline.kv.dtype.value) out.layout = layouts[i], out.layout_index = i;
  }
  const std::string who = "attention plugin '" + provider.name + "'";
  if (out.layout == nullptr)
    return fail(Code::bad_argument, pipeline.kv.dtype.where,
                "kv.dtype: " + who + " has no layout '" + pipeline.kv.dtype.value + "'; " +
                    suggest_name(pipeline.kv.dtype.value, names));
  if (pipeline.placement.device.value != out.layout->device)
    return fail(Code::bad_argument, pipeline.placement.device.where,
                who + " runs on " + out.layout->device + ", not on " + pipeline.placement.device.value);
  if (pipeline.engine.deterministic && out.layout->batch_invariant == 0)
    return fail(
        Code::bad_argument, pipeline.engine.deterministic.where,
        "engine.deterministic: " + who + " does not keep batch invariance; name another in use.attention");
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::attention) continue;
    mortise_error error = c_error();
    const mortise_status status = out.calls->accepts(provider.self, out.layout_index, &node.layer, &error);
    if ((node.layer.features & ~out.layout->features) != 0)
      return fail(Code::bad_argument, pipeline.source,
                  who +
                      " lacks a feature that this model's attention needs; "
                      "name another in use.attention");
    if (status != MORTISE_OK)
      return fail(Code::bad_argument, pipeline.source,
                  who + " does not take this model: " + from_c(status, error).text());
  }
  return out;
}

KvStore KvStore::plan(const Graph& graph, const AttentionChoice& attention) {
  KvStore out;
  out.slot_bytes_.assign(graph.slot_groups.size(), 0);
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::attention)
      out.slot_bytes_[node.slot] = std::max(
          out.slot_bytes_[node.slot],
          attention.calls->block_bytes(attention.provider->self, attention.layout_index, &node.layer));
  for (uint64_t bytes : out.slot_bytes_) out.block_bytes_ += bytes;
  return out;
}

KvStore::KvStore(KvStore&& other) noexcept { *this = std::move(other); }

KvStore& KvStore::operator=(KvStore&& other) noexcept {
  std::swap(block_bytes_, other.block_bytes_);
  std::swap(slot_bytes_, other.slot_bytes_);
  std::swap(slots_, other.slots_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}

KvStore::~KvStore() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

Result<void> KvStore::allocate(uint64_t blocks) {
  size_ = std::max<uint64_t>(block_bytes_ * blocks, 1);
  void* memory =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::no_memory, "kv.memory",
                "no address space for " + std::to_string(size_) + " bytes; lower kv.memory");
  memory_ = memory;
  auto* at = static_cast<uint8_t*>(memory);
  for (uint64_t bytes : slot_bytes_) {
    slots_.push_back(at);
    at += bytes * blocks;
  }
  return {};
}

}  // namespace mortise
