// attention/paged: cutting a step into units and tasks; see plan.h.
#include "plan.h"

#include <new>
#include <vector>

namespace attention_paged {
namespace {

// Multiply-adds of a task, some 20 us of work.
constexpr uint64_t kTaskWork = 400'000;
// Units of a single row are split while there are fewer than this for each worker.
constexpr uint32_t kUnitsPerWorker = 2;

uint64_t align(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Hands out aligned arrays of a workspace, or only counts where there is no memory.
class Cursor {
 public:
  explicit Cursor(void* memory) : memory_(static_cast<uint8_t*>(memory)) {}
  template <class T>
  T* take(uint64_t count) {
    T* out = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at_);
    at_ += align(count * sizeof(T));
    return out;
  }
  uint64_t bytes() const { return at_; }

 private:
  uint8_t* memory_;
  uint64_t at_ = 0;
};

struct Range {
  uint32_t begin, end;
};

/// The stretches that rows [row0, row0 + rows) of a sequence see; padding rows see none.
Range stretches(const Layer& layer, const mortise_attention_step& step, uint32_t row0, uint32_t rows) {
  Range out = {kNone, 0};
  for (uint32_t row = row0; row < row0 + rows; ++row) {
    if (mortise::is_padding(step, row)) continue;
    const int32_t position = step.positions[row];
    out.begin = std::min(out.begin, mortise::first_visible(layer.layer, position) / kStretch);
    out.end = std::max(out.end, static_cast<uint32_t>(position) / kStretch + 1);
  }
  return out.end == 0 ? Range{0, 0} : out;
}

uint64_t work_of(const Layer& layer, const Unit& unit) {
  const uint64_t positions = uint64_t{unit.stretch1 - unit.stretch0} * kStretch;
  return positions * unit.rows * layer.group() * (layer.shape.k_dim + layer.shape.v_dim);
}

/// Every tile of rows with every KV head; KV heads outside, so that a head's pages are visited in a row.
std::vector<Unit> tile(const Layer& layer, const mortise_attention_step& step) {
  std::vector<Unit> units;
  const uint32_t height = layer.tile_rows();
  for (uint32_t s = 0; s < step.sequences; ++s)
    for (uint32_t kv_head = 0; kv_head < layer.layer.kv_heads; ++kv_head)
      for (uint32_t row = step.sequence_rows[s]; row < step.sequence_rows[s + 1]; row += height) {
        const uint32_t rows = std::min(height, step.sequence_rows[s + 1] - row);
        const Range seen = stretches(layer, step, row, rows);
        units.push_back({s, kv_head, row, rows, seen.begin, seen.end, kNone});
      }
  const uint32_t used = step.sequence_rows[step.sequences];
  if (used < step.rows) units.push_back({kNone, 0, used, step.rows - used, 0, 0, kNone});
  return units;
}

/// Cuts units of one row into pieces while there are too few for the workers.
void split(const Layer& layer, uint32_t workers, const Workspace& to, std::vector<Unit>* units) {
  const auto wanted = static_cast<uint32_t>(uint64_t{kUnitsPerWorker} * workers);
  if (workers < 2 || units->size() >= wanted) return;
  const auto each = static_cast<uint32_t>((wanted + units->size() - 1) / units->size());
  std::vector<Unit> out;
  uint32_t splits = 0;
  uint64_t partials = 0;
  for (const Unit& unit : *units) {
    const uint32_t count = unit.stretch1 - unit.stretch0, pieces = std::min(each, count);
    if (unit.rows != 1 || pieces < 2) {
      out.push_back(unit);
      continue;
    }
    for (uint32_t i = 0; i < pieces; ++i) {
      Unit piece = unit;
      piece.stretch0 = unit.stretch0 + count * i / pieces;
      piece.stretch1 = unit.stretch0 + count * (i + 1) / pieces;
      piece.split = splits;
      out.push_back(piece);
    }
    new (&to.splits[splits++]) Split{{pieces}, pieces, unit.stretch0, unit.stretch1, partials};
    partials += uint64_t{count} * layer.group();
  }
  *units = std::move(out);
}

}  // namespace

Bounds bounds(const Layer& layer, uint32_t rows, uint32_t sequences, uint32_t context, uint32_t workers) {
  const uint64_t wanted = uint64_t{kUnitsPerWorker} * workers;
  const uint64_t tiles = std::min<uint64_t>(rows, rows / layer.tile_rows() + uint64_t{sequences});
  Bounds out{};
  out.units = tiles * layer.layer.kv_heads + 2 * wanted + 1;
  out.splits = std::min<uint64_t>(wanted, uint64_t{rows} * layer.layer.kv_heads);
  out.partials = out.splits * layer.group() * (uint64_t{context} / kStretch + 1);
  return out;
}

Workspace view(void* memory, const Layer& layer, const Bounds& bounds) {
  Cursor cursor(memory);
  Workspace out{};
  out.header = cursor.take<Header>(1);
  out.units = cursor.take<Unit>(bounds.units);
  out.task_ends = cursor.take<uint32_t>(bounds.units);
  out.splits = cursor.take<Split>(bounds.splits);
  out.partials = cursor.take<uint8_t>(bounds.partials * layer.partial_bytes());
  out.bytes = cursor.bytes();
  return out;
}

void cut(const Layer& layer, const mortise_attention_step& step, uint32_t workers, void* memory) {
  uint32_t context = 0;
  for (uint32_t s = 0; s < step.sequences; ++s) context = std::max(context, step.kv_lengths[s]);
  const Bounds limits = bounds(layer, step.rows, step.sequences, context, workers);
  const Workspace to = view(memory, layer, limits);
  std::vector<Unit> units = tile(layer, step);
  split(layer, workers, to, &units);
  std::copy(units.begin(), units.end(), to.units);
  uint64_t total = 0;
  for (const Unit& unit : units) total += work_of(layer, unit);
  const uint64_t wanted = std::min<uint64_t>(units.size(), total / kTaskWork + 1);
  // Tasks take the units in turn; each ends where its share of the work is reached.
  uint64_t done = 0, tasks = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    done += work_of(layer, units[i]);
    if (i + 1 == units.size() || done * wanted >= total * (tasks + 1))
      to.task_ends[tasks++] = static_cast<uint32_t>(i + 1);
  }
  *to.header = {limits, tasks};
}

}  // namespace attention_paged
