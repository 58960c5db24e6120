// A model ready to run, or planned so far that explain can tell everything about it.
// Thread rule: made on the loading thread, then used by the engine's. Flow: parts + opened file -> graph ->
// kernels -> plan (headers alone) -> load (probe, pack, memory).
#pragma once
#include <mortise/cpp/result.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/pool.h"
#include "model/builder.h"
#include "model/formats.h"
#include "model/kv_store.h"
#include "model/open_model.h"
#include "model/parts.h"
#include "model/program.h"
#include "model/weights.h"

namespace mortise {

constexpr uint64_t kKvBlocksMax = uint64_t{1} << 18;
constexpr uint32_t kWantedRowsMax = 32;  // rows whose logits are made at once
constexpr uint32_t kContextMax = uint32_t{1} << 24;

class Model {
 public:
  /// Chooses everything from headers: graph, kernels, KV layout, memory. Everything given outlives the model.
  static Result<std::unique_ptr<Model>> plan(Parts& parts, const Pipeline& pipeline, const OpenModel& open,
                                             Log& log, uint32_t workers);

  /// Probes the kernels on real rows, packs the weights, takes the memory. `progress` gets bytes done.
  Result<void> load(Pool& pool, const std::function<void(uint64_t done)>& progress);

  const Graph& graph() const { return graph_; }
  const Weights& weights() const { return *weights_; }
  const Chooser& chooser() const { return *chooser_; }
  Program& program() { return *program_; }
  const KvStore& kv() const { return kv_; }
  const AttentionChoice& attention() const { return attention_; }
  const ProgramMemory& memory() const { return program_->memory(); }
  uint64_t weights_bytes() const;  // packed, and constants
  uint64_t kv_blocks() const { return kv_blocks_; }
  uint32_t context() const { return limits_.context; }
  const ProgramLimits& limits() const { return limits_; }
  bool is_batch_invariant() const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Model(Parts& parts, const Pipeline& pipeline, const OpenModel& open, Log& log, uint32_t workers);
  Result<void> build_graph();
  Result<void> choose_kernels();
  void warn_of_idle_pins();
  Result<void> size_context();
  Result<void> size_kv();
  Result<void> make_program();

  Parts& parts_;
  const Pipeline& pipeline_;
  const OpenModel& open_;
  Log& log_;
  const uint32_t workers_;
  std::unique_ptr<Formats> formats_;
  std::unique_ptr<Chooser> chooser_;
  Graph graph_;
  std::unique_ptr<Weights> weights_;
  AttentionChoice attention_;
  KvStore kv_;
  uint64_t kv_blocks_ = 0;
  ProgramLimits limits_;
  std::unique_ptr<Program> program_;
  std::vector<std::string> warnings_;
};

}  // namespace mortise
