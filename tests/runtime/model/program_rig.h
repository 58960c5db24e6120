// A model in memory, planned, packed and run through the real plugins of ops and linear, without a file.
// Thread rule: single-threaded, but for the pool. Flow: tests emit a graph, then run batches of rows.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "linear.h"
#include "model/builder.h"
#include "model/formats.h"
#include "model/program.h"
#include "ops.h"
#include "plugins/kernel_test.h"

namespace mortise_test {

using namespace mortise;

/// One "file" whose bytes are here; remembers what was let go of it.
class MemoryFile final : public Files {
 public:
  Result<const Mapping*> map(const std::string&) override { return &mapping_; }
  const Mapping* find(uint32_t) const override { return &mapping_; }
  void release(uint32_t, uint64_t offset, uint64_t length) const override {
    std::lock_guard lock(mutex_);
    std::fill_n(released.begin() + static_cast<ptrdiff_t>(offset), length, true);
  }
  void set(const std::vector<float>& data) {
    mapping_.data = reinterpret_cast<const uint8_t*>(data.data());
    mapping_.size_bytes = data.size() * sizeof(float);
    released.assign(mapping_.size_bytes, false);
  }
  mutable std::vector<bool> released;  // of each byte

 private:
  Mapping mapping_;
  mutable std::mutex mutex_;
};

/// A format of single float32 numbers, "test.f32/1".
inline const mortise_format kFloats = [] {
  mortise_format f{sizeof(mortise_format), 0, "test.f32/1", 1, sizeof(float)};
  f.validate = [](void*, const mortise_tensor*, mortise_error*) { return mortise_status{MORTISE_OK}; };
  f.decode_rows = [](void*, const mortise_tensor* t, const void* const* planes, uint64_t row0, uint64_t rows,
                     float* out) {
    const uint64_t k = t->shape[t->rank - 1];
    std::memcpy(out, static_cast<const float*>(planes[0]) + row0 * k, rows * k * sizeof(float));
  };
  return f;
}();

/// A linear plugin that takes x in tiles of four rows, interleaved column by column ("test.tiles/1").
struct Tiles {
  static constexpr uint64_t kTile = 4;
  static const mortise_linear& table() {
    static const mortise_linear made = [] {
      static constexpr mortise_linear_claim kClaim = {
          sizeof(kClaim), 1, "test.f32/1", "test.tiles/1", "cpu", "", "tuned", "", 7, 1, 1e-5};
      static constexpr const mortise_linear_claim* kClaims[] = {&kClaim};
      mortise_linear t = linear_reference::kTable;
      t.claims = [](void*, uint32_t* count) {
        *count = 1;
        return static_cast<const mortise_linear_claim* const*>(kClaims);
      };
      t.bind = [](void*, uint32_t, const mortise_linear_desc* desc, const void* packed, void** weight,
                  mortise_error*) {
        *weight = new std::pair(desc, static_cast<const float*>(packed));
        return mortise_status{MORTISE_OK};
      };
      t.unbind = [](void*, void* w) {
        delete static_cast<std::pair<const mortise_linear_desc*, const float*>*>(w);
      };
      t.act_bytes = [](void*, uint32_t, uint64_t m, uint64_t k) {
        return (m + kTile - 1) / kTile * kTile * k * sizeof(float);
      };
      t.act_tasks = [](void*, uint32_t, uint64_t m, uint64_t, uint32_t) { return static_cast<uint32_t>(m); };
      t.act_prepare = [](void*, uint32_t, const float* x, uint64_t stride, uint64_t, uint64_t k, void* out,
                         uint32_t row, uint32_t) {
        for (uint64_t i = 0; i < k; ++i)
          static_cast<float*>(out)[(row / kTile * k + i) * kTile + row % kTile] = x[row * stride + i];
      };
      t.run = &run;
      return t;
    }();
    return made;
  }
  static void run(void*, void* weight, const mortise_linear_args* a, uint32_t task, void*) {
    const auto& [desc, w] = *static_cast<std::pair<const mortise_linear_desc*, const float*>*>(weight);
    const auto* x = static_cast<const float*>(a->x);
    for (uint64_t n = desc->rows * task / a->tasks; n < desc->rows * (task + 1) / a->tasks; ++n)
      for (uint64_t row = 0; row < a->m; ++row) {
        float sum = 0;
        for (uint64_t i = 0; i < desc->k; ++i)
          sum += x[(row / kTile * desc->k + i) * kTile + row % kTile] * w[n * desc->k + i];
        a->y[row * a->y_stride + n] = sum + (a->bias == nullptr ? 0 : a->bias[n]);
      }
  }
};

class ModelRig {
 public:
  ModelRig() : ops_(host_.host(), {}), linear_(host_.host(), {}) {
    pipeline_.placement.device.value = "cpu";
    ops_part_.table = &ops_reference::kTable;
    linear_part_.table = &linear_reference::kTable;
    tiles_part_.table = &Tiles::table();
    format_part_.table = &kFloats;
  }

  /// Adds a tensor of random numbers; all of them before emit.
  const std::vector<float>& add(const std::string& name, const std::vector<uint64_t>& shape,
                                float scale = 1) {
    uint64_t count = 1;
    for (uint64_t d : shape) count *= d;
    const std::vector<float> values = random_.normals(count, scale);
    auto& t = tensors_[name];
    t.plane = {sizeof(mortise_plane),
               0,
               file_data_.size() * sizeof(float),
               count * sizeof(float),
               "data",
               "block",
               {0, 0}};
    t.tensor = {sizeof(mortise_tensor),
                static_cast<uint32_t>(shape.size()),
                str(tensors_.find(name)->first),
                "test.f32/1",
                {},
                1,
                0,
                t.planes,
                nullptr};
    std::copy(shape.begin(), shape.end(), t.tensor.shape);
    file_data_.insert(file_data_.end(), values.begin(), values.end());
    return t.values = values;
  }

  /// Builds the graph, packs, and takes memory. With `tiles`, weights run on the plugin Tiles.
  void emit(const std::function<void(const mortise_builder&)>& build, const ProgramLimits& limits,
            bool tiles);
  /// Logits of all rows of a batch.
  std::vector<float> run(const std::vector<uint32_t>& tokens, const std::vector<int32_t>& positions,
                         const std::vector<uint32_t>& lengths);

  Pool& pool() { return *pool_; }
  const KvStore& kv() const { return kv_; }

  MemoryFile file;

 private:
  struct Tensor {
    mortise_plane plane;
    const mortise_plane* planes[1] = {&plane};
    mortise_tensor tensor;
    std::vector<float> values;
  };
  static const mortise_weights& weights_table();

  FakeHost host_;
  Random random_{1};
  Pipeline pipeline_;
  ops_reference::Reference ops_;
  linear_reference::Reference linear_;
  mortise_part ops_part_{}, linear_part_{}, tiles_part_{}, format_part_{}, weights_part_{};
  std::map<std::string, Tensor> tensors_;
  std::vector<float> file_data_;
  Provider weights_provider_;
  std::unique_ptr<OpenModel> open_;
  std::unique_ptr<Formats> formats_;
  std::unique_ptr<Chooser> chooser_;
  std::unique_ptr<Pool> pool_;
  AttentionChoice attention_;
  KvStore kv_;

 public:  // last, so that they go first: they use all of the above
  Graph graph;
  std::unique_ptr<Weights> weights;
  std::unique_ptr<Program> program;
};

}  // namespace mortise_test
