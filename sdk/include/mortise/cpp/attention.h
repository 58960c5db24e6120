// What attention plugins share: 16- and 32-bit float layouts, checks of a layer, and walking a step's batch.
// Thread rule: plain values and pure functions. Flow: used by a plugin's accepts, append and plan.
#pragma once
#include <mortise/attention.h>
#include <mortise/cpp/half.h>
#include <mortise/cpp/result.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// Element type of a KV layout; its number is the layout's index.
  enum class KvType : uint32_t { f32, f16, bf16 };
  constexpr uint32_t kKvTypes = 3;

  constexpr uint64_t kv_bytes(KvType type) { return type == KvType::f32 ? 4 : 2; }

  enum class KvTier { tuned, portable, reference };

  /// The layouts "f32", "f16" and "bf16" with the given feature bits and tier, in the order of KvType.
  template <uint64_t features, KvTier tier>
  const mortise_kv_layout* const* float_layouts(uint32_t * count) {
    static constexpr const char* kTier = tier == KvTier::tuned      ? "tuned"
                                         : tier == KvTier::portable ? "portable"
                                                                    : "reference";
    static constexpr mortise_kv_layout kF32 = {sizeof(kF32), 1, "f32", "cpu", features, kTier};
    static constexpr mortise_kv_layout kF16 = {sizeof(kF16), 1, "f16", "cpu", features, kTier};
    static constexpr mortise_kv_layout kBf16 = {sizeof(kBf16), 1, "bf16", "cpu", features, kTier};
    static constexpr const mortise_kv_layout* kAll[] = {&kF32, &kF16, &kBf16};
    *count = kKvTypes;
    return kAll;
  }

  inline void write_kv(KvType type, void* to, float x) {
    if (type == KvType::f32) {
      std::memcpy(to, &x, sizeof(x));
    } else {
      const uint16_t bits = type == KvType::f16 ? float_to_half(x) : float_to_bf16(x);
      std::memcpy(to, &bits, sizeof(bits));
    }
  }
  inline float read_kv(KvType type, const void* from) {
    if (type == KvType::f32) {
      float x;
      std::memcpy(&x, from, sizeof(x));
      return x;
    }
    uint16_t bits;
    std::memcpy(&bits, from, sizeof(bits));
    return type == KvType::f16 ? half_to_float(bits) : bf16_to_float(bits);
  }

  constexpr uint32_t kHeadsMax = 1024, kHeadDimMax = 4096;

  /// Is the layer's shape possible, and are the features it needs among `offered`?
  inline Result<void> check_layer(const mortise_attention_layer& layer, uint64_t offered) {
    const auto no = [](const std::string& message) { return fail(Code::unsupported, "attention", message); };
    if (layer.kv_heads == 0 || layer.heads > kHeadsMax || layer.heads % layer.kv_heads != 0 ||
        layer.heads == 0)
      return no(std::to_string(layer.heads) + " heads over " + std::to_string(layer.kv_heads) +
                " KV heads; 1 to " + std::to_string(kHeadsMax) + " are possible, a multiple of the KV heads");
    if (layer.k_dim == 0 || layer.v_dim == 0 || layer.k_dim > kHeadDimMax || layer.v_dim > kHeadDimMax)
      return no("head sizes " + std::to_string(layer.k_dim) + " and " + std::to_string(layer.v_dim) +
                "; 1 to " + std::to_string(kHeadDimMax) + " are possible");
    uint64_t needed = layer.features;
    if (layer.window != 0) needed |= MORTISE_ATTENTION_WINDOW;
    if (layer.softcap != 0.0f) needed |= MORTISE_ATTENTION_SOFTCAP;
    if (layer.sinks != nullptr) needed |= MORTISE_ATTENTION_SINKS;
    if ((needed & ~offered) != 0) return no("the layer needs a feature that this plugin lacks");
    if ((layer.features & MORTISE_ATTENTION_SINKS) != 0 && layer.sinks == nullptr)
      return no("the layer has no sinks though it needs them");
    return {};
  }

  /// The first position that a query at `position` sees.
  inline uint32_t first_visible(const mortise_attention_layer& layer, int32_t position) {
    const int64_t first = layer.window == 0 ? 0 : int64_t{position} - layer.window + 1;
    return static_cast<uint32_t>(std::max<int64_t>(first, 0));
  }

  /// The sequence of a row that is one of the step's sequences.
  inline uint32_t sequence_of(const mortise_attention_step& step, uint32_t row) {
    const uint32_t* end = step.sequence_rows + step.sequences + 1;
    return static_cast<uint32_t>(std::upper_bound(step.sequence_rows, end, row) - step.sequence_rows - 1);
  }

  /// A row that belongs to no sequence, or that has no place in one: its result is zero.
  inline bool is_padding(const mortise_attention_step& step, uint32_t row) {
    return row >= step.sequence_rows[step.sequences] || step.positions[row] < 0 || step.slots[row] < 0;
  }

}  // namespace )
}  // namespace mortise
