// attention/paged: the units of a task; see plan.h.
#include <cmath>

#include "plan.h"

namespace attention_paged {
namespace {

constexpr uint32_t kQueriesMax = 16;  // of a tile, unless a single row has more

uint64_t align(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
uint32_t queries_max(const Layer& layer) { return layer.tile_rows() * layer.group(); }
uint64_t page_floats(const Layer& layer) {
  return uint64_t{kBlock} * std::max(layer.shape.k_dim, layer.shape.v_padded);
}

/// Scratch of a task, for the queries of one unit.
struct Memory {
  float* scores;
  float* page;
  uint8_t* stretch;  // partial results of one stretch
  uint8_t* total;    // of all stretches so far
  const float** q;
  uint32_t *begin, *end;
  Partial** out;

  Memory(const Layer& layer, void* scratch) {
    const uint64_t n = queries_max(layer);
    auto* at = static_cast<uint8_t*>(scratch);
    const auto take = [&](uint64_t bytes) {
      uint8_t* out_bytes = at;
      at += align(bytes);
      return out_bytes;
    };
    scores = reinterpret_cast<float*>(take(n * kStretch * sizeof(float)));
    page = reinterpret_cast<float*>(take(page_floats(layer) * sizeof(float)));
    stretch = take(n * layer.partial_bytes());
    total = take(n * layer.partial_bytes());
    q = reinterpret_cast<const float**>(take(n * sizeof(float*)));
    begin = reinterpret_cast<uint32_t*>(take(n * sizeof(uint32_t)));
    end = reinterpret_cast<uint32_t*>(take(n * sizeof(uint32_t)));
    out = reinterpret_cast<Partial**>(take(n * sizeof(Partial*)));
  }
};

Partial* partial(const Layer& layer, uint8_t* partials, uint32_t index) {
  return reinterpret_cast<Partial*>(partials + index * layer.partial_bytes());
}

void clear(const Layer& layer, Partial* partial) {
  partial->maximum = -INFINITY;
  partial->sum = 0.0f;
  std::fill_n(partial->values(), layer.shape.v_padded, 0.0f);
}

class UnitRun {
 public:
  UnitRun(const Layer& layer, const mortise_attention_args& args, const Unit& unit, void* scratch)
      : layer_(layer), args_(args), step_(*args.step), unit_(unit), memory_(layer, scratch) {}

  /// The results of one stretch, for query i in partial i of `results`; queries that see nothing of it are
  /// left out. Calls done(i) for each of the others.
  template <class Done>
  void attend(uint32_t stretch, uint8_t* results, const Done& done) {
    const uint32_t start = stretch * kStretch;
    uint32_t count = 0, low = kStretch, high = 0;
    for (uint32_t row = 0; row < unit_.rows; ++row) {
      if (mortise::is_padding(step_, unit_.row0 + row)) continue;
      const int32_t position = step_.positions[unit_.row0 + row];
      const uint32_t first = std::max(mortise::first_visible(layer_.layer, position), start);
      const uint32_t end = std::min(static_cast<uint32_t>(position) + 1, start + kStretch);
      if (first >= end) continue;
      low = std::min(low, first - start);
      high = std::max(high, end - start);
      for (uint32_t h = 0; h < layer_.group(); ++h, ++count) {
        memory_.q[count] = query(row, h);
        memory_.begin[count] = first - start;
        memory_.end[count] = end - start;
        memory_.out[count] = partial(layer_, results, row * layer_.group() + h);
      }
    }
    if (count == 0) return;
    const uint8_t* pages[kBlocks];
    const uint32_t* blocks = step_.blocks + uint64_t{unit_.sequence} * step_.blocks_stride + start / kBlock;
    const uint32_t first_block = low / kBlock, last_block = (high + kBlock - 1) / kBlock;
    for (uint32_t b = first_block; b < last_block; ++b)
      pages[b] = static_cast<const uint8_t*>(args_.base) + blocks[b] * layer_.block_bytes() +
                 unit_.kv_head * layer_.page_bytes();
    layer_.kernels->attend({&layer_.shape, count, memory_.q, memory_.begin, memory_.end, pages, first_block,
                            last_block - first_block, memory_.scores, memory_.page, memory_.out});
    for (uint32_t i = 0; i < count; ++i) done(memory_.out[i]);
  }

  /// All stretches in ascending order, then the result.
  void whole() {
    const uint32_t queries = unit_.rows * layer_.group();
    for (uint32_t i = 0; i < queries; ++i) clear(layer_, partial(layer_, memory_.total, i));
    for (uint32_t s = unit_.stretch0; s < unit_.stretch1; ++s)
      attend(s, memory_.stretch, [&](const Partial* from) {
        const auto offset = reinterpret_cast<const uint8_t*>(from) - memory_.stretch;
        layer_.kernels->merge(reinterpret_cast<Partial*>(memory_.total + offset), from,
                              layer_.shape.v_padded);
      });
    finish(memory_.total);
  }

  /// A piece of a split unit.
  void piece(const Workspace& workspace) {
    Split& split = workspace.splits[unit_.split];
    const uint64_t group = layer_.group();
    for (uint32_t s = unit_.stretch0; s < unit_.stretch1; ++s) {
      Partial* results = workspace.partial(layer_, split.partials + (s - split.stretch0) * group);
      attend(s, reinterpret_cast<uint8_t*>(results), [](const Partial*) {});
    }
    if (split.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    split.left.store(split.pieces, std::memory_order_relaxed);
    for (uint32_t h = 0; h < group; ++h) {
      Partial* total = partial(layer_, memory_.total, h);
      clear(layer_, total);
      for (uint32_t s = split.stretch0; s < split.stretch1; ++s)
        layer_.kernels->merge(total,
                              workspace.partial(layer_, split.partials + (s - split.stretch0) * group + h),
                              layer_.shape.v_padded);
    }
    finish(memory_.total);
  }

 private:
  uint64_t head(uint32_t h) const { return uint64_t{unit_.kv_head} * layer_.group() + h; }
  const float* query(uint32_t row, uint32_t h) const {
    return args_.q + (uint64_t{unit_.row0} + row) * args_.q_stride + head(h) * layer_.shape.k_dim;
  }
  void finish(uint8_t* totals) {
    for (uint32_t row = 0; row < unit_.rows; ++row)
      for (uint32_t h = 0; h < layer_.group(); ++h) {
        float* out =
            args_.out + (uint64_t{unit_.row0} + row) * args_.out_stride + head(h) * layer_.shape.v_dim;
        const float* sink = layer_.layer.sinks == nullptr ? nullptr : layer_.layer.sinks + head(h);
        if (mortise::is_padding(step_, unit_.row0 + row))
          std::fill_n(out, layer_.shape.v_dim, 0.0f);
        else
          layer_.kernels->finish(partial(layer_, totals, row * layer_.group() + h), sink, layer_.shape, out);
      }
  }

  const Layer& layer_;
  const mortise_attention_args& args_;
  const mortise_attention_step& step_;
  const Unit& unit_;
  Memory memory_;
};

}  // namespace

uint32_t Layer::tile_rows() const { return std::max(kQueriesMax / group(), 1u); }

uint64_t scratch_bytes(const Layer& layer) {
  const uint64_t n = queries_max(layer);
  return align(n * kStretch * sizeof(float)) + align(page_floats(layer) * sizeof(float)) +
         2 * align(n * layer.partial_bytes()) + 2 * align(n * sizeof(float*)) +
         2 * align(n * sizeof(uint32_t));
}

void run_task(const Layer& layer, const mortise_attention_args& args, uint32_t task, void* scratch) {
  // The workspace is this plugin's own; tasks change the counters and partial results of split units.
  void* memory = const_cast<void*>(args.plan);
  const Workspace workspace = view(memory, layer, static_cast<const Header*>(args.plan)->bounds);
  for (uint32_t i = task == 0 ? 0 : workspace.task_ends[task - 1]; i < workspace.task_ends[task]; ++i) {
    const Unit& unit = workspace.units[i];
    if (unit.sequence == kNone) {
      for (uint32_t row = unit.row0; row < unit.row0 + unit.rows; ++row)
        std::fill_n(args.out + row * args.out_stride, layer.layer.heads * layer.shape.v_dim, 0.0f);
      continue;
    }
    UnitRun run(layer, args, unit, scratch);
    if (unit.split == kNone)
      run.whole();
    else
      run.piece(workspace);
  }
}

}  // namespace attention_paged
