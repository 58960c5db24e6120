// The linear weights of a model: chosen kernel, packed bytes, handle.
// Thread rule: made on the loading thread; packing runs on the pool. Flow: graph's matrices -> choose -> pack
// (pages of the file are let go piece by piece, so that nothing is held twice) -> Program.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/linear.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "host/log.h"
#include "host/pool.h"
#include "model/chooser.h"
#include "model/formats.h"
#include "model/graph.h"
#include "model/open_model.h"

namespace mortise {

/// A matrix of the graph, ready to run. A matrix that is only an embedding table is not packed: its rows are
/// decoded from the file's pages.
struct Weight {
  mortise_linear_desc desc{};
  bool is_transposed = false;       // as Matrix says
  std::vector<const void*> planes;  // of an unpacked table
  Choice choice;                    // of a packed one
  const Provider* provider = nullptr;
  const mortise_linear* calls = nullptr;
  const mortise_linear_claim* claim = nullptr;
  uint64_t packed_bytes = 0;
  void* packed = nullptr;
  void* handle = nullptr;

  bool is_packed() const { return calls != nullptr; }
  /// Takes x in a form of its own, made by act_prepare.
  bool is_prepared() const { return std::strcmp(claim->activation, "act.f32/1") != 0; }
};

class Weights {
 public:
  /// Chooses a kernel per matrix, from headers alone.
  static Result<std::unique_ptr<Weights>> choose(const Graph& graph, const OpenModel& model,
                                                 const Formats& formats, const Chooser& chooser);
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  /// Packs and binds all. `progress` gets the bytes packed so far.
  Result<void> pack(const OpenModel& model, Pool& pool, const std::function<void(uint64_t)>& progress);

  const std::vector<Weight>& list() const { return list_; }
  uint64_t packed_bytes() const;

 private:
  Weights() = default;
  Result<void> choose_one(const Matrix& matrix, const OpenModel& model, const Formats& formats,
                          const Chooser& chooser, Weight* out);
  Result<void> pack_one(const OpenModel& model, Pool& pool, Weight* weight);
  std::vector<Weight> list_;
};

/// Gathers rows `ids` of a weight to out[count][k], on the calling worker.
void gather_rows(const Weight& weight, const uint32_t* ids, uint64_t count, float* out);

}  // namespace mortise
