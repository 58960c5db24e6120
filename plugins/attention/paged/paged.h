// attention/paged: blocked softmax attention over the KV cache, for prompts and for single tokens alike.
// Thread rule: instance and handle are constant after they are made; a plan's workspace is shared by the
// tasks of one run. Flow: plan.cc cuts a step into units of work once, run.cc does a task's units for each
// layer.
//
// A block is one page for each KV head: K [k_dim][16 tokens], then V [16 tokens][v_dim]. The softmax of a
// query is taken over stretches of 256 positions, aligned to position 0, and the stretches' results are
// merged in ascending order, whoever computed them: so neither batch, chunk, tile nor split changes a bit.
#pragma once
#include <mortise/cpp/attention.h>
#include <mortise/cpp/part.h>
#include <mortise/cpp/target.h>

#include "kernels.h"

namespace attention_paged {

static_assert(kBlock == MORTISE_KV_BLOCK_TOKENS);

class Paged {
 public:
  Paged(mortise::Host host, const mortise::NoParams&) : isa_(mortise::best_isa(host)) {}
  const Kernels& kernels() const;

 private:
  mortise::Isa isa_;
};

/// A layer shape in one layout.
struct Layer {
  mortise::KvType type;
  mortise_attention_layer layer;
  Shape shape;
  const Kernels* kernels;

  Layer(mortise::KvType type_, const mortise_attention_layer& layer_, const Kernels* kernels_);
  uint32_t group() const { return layer.heads / layer.kv_heads; }
  uint64_t page_bytes() const;
  uint64_t block_bytes() const;
  uint64_t partial_bytes() const { return sizeof(Partial) + shape.v_padded * sizeof(float); }
  /// Rows of a sequence that share the pages they load.
  uint32_t tile_rows() const;
};

extern const mortise_attention kTable;

}  // namespace attention_paged
