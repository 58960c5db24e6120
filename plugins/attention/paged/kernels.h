// The arithmetic of attention/paged on one stretch of positions, one table of functions per instruction set.
// Thread rule: pure functions, [worker]. Flow: run.cc attends stretch by stretch and merges the results.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace attention_paged {

constexpr uint32_t kBlock = 16;     // tokens of a block, and lanes
constexpr uint32_t kStretch = 256;  // positions whose softmax is taken in one piece, aligned to position 0
constexpr uint32_t kBlocks = kStretch / kBlock;

enum class Element : uint32_t { f32, f16, bf16 };

/// Softmax over some positions, not yet divided: maximum of the scores, sum of p = exp(score - maximum) and
/// sum of p v. Followed by v_dim, rounded up to 16, floats of the last.
struct Partial {
  float maximum, sum;
  float unused[14];  // the values start at a multiple of 64 bytes
  float* values() { return reinterpret_cast<float*>(this + 1); }
  const float* values() const { return reinterpret_cast<const float*>(this + 1); }
};

/// One KV head of a layer.
struct Shape {
  Element element;
  uint32_t k_dim, v_dim;
  uint32_t v_padded;  // v_dim rounded up to 16
  float scale, softcap;
};

/// Some queries over one stretch. A page holds K [k_dim][16 tokens], then V [16 tokens][v_dim].
struct Stretch {
  const Shape* shape;
  uint32_t queries;
  const float* const* q;         // [queries] of k_dim
  const uint32_t *begin, *end;   // [queries] positions seen, from the stretch's first on; never none
  const uint8_t* const* pages;   // [kBlocks]
  uint32_t first_block, blocks;  // pages that any query sees
  float* scores;                 // scratch [queries][kStretch]
  float* page;                   // scratch of max(16 k_dim, 16 v_padded)
  Partial* const* out;           // [queries]
};

struct Kernels {
  void (*attend)(const Stretch& stretch);
  /// `to` becomes what both positions' sets together give; `to` comes first. An empty one has maximum -inf.
  void (*merge)(Partial* to, const Partial* from, uint32_t v_padded);
  /// out[v_dim] = values / sum, with exp(sink) added to the sum where there is a sink.
  void (*finish)(Partial* partial, const float* sink, const Shape& shape, float* out);
  /// Rounds to the 16-bit element.
  void (*narrow)(Element element, const float* from, size_t count, uint16_t* to);
};

extern const Kernels kernels_base, kernels_avx2, kernels_avx512;

}  // namespace attention_paged
