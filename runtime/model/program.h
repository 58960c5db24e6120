// The program of a model: the graph as a flat list of steps over one arena, run once per batch.
// Thread rule: made on the loading thread; run by the engine thread, which shares the work with the pool.
// Flow: engine's batch -> run -> logits of the wanted rows, chunk by chunk, to the engine's callback.
#pragma once
#include <mortise/attention.h>
#include <mortise/cpp/result.h>

#include <functional>
#include <memory>
#include <vector>

#include "host/memory.h"
#include "host/pool.h"
#include "model/activation_sums.h"
#include "model/chooser.h"
#include "model/expert_rows.h"
#include "model/graph.h"
#include "model/kv_store.h"
#include "model/weights.h"

namespace mortise {

struct ProgramLimits {
  uint32_t rows = 0;       // of a step
  uint32_t wanted = 0;     // rows whose logits are made at once
  uint32_t sequences = 0;  // of a step
  uint32_t context = 0;    // tokens of a sequence
};

/// What one step computes. Arrays live until run returns.
struct Batch {
  const uint32_t* tokens = nullptr;   // [attention.rows]
  const uint32_t* lengths = nullptr;  // [attention.rows] as mortise_op_args has them
  mortise_attention_step attention{};
  const uint32_t* wanted = nullptr;  // row numbers, rising
  uint32_t wanted_count = 0;
};

/// Where the bytes go, for explain.
struct ProgramMemory {
  uint64_t activations_bytes = 0, logits_bytes = 0, workspace_bytes = 0;
};

/// Nanoseconds of the engine thread inside plugins since the last step began.
struct StepTimes {
  uint64_t plugins_ns = 0;
};

class Program {
 public:
  /// Binds operations and attention, lays out the arena; takes no memory yet. Everything given outlives it.
  static Result<std::unique_ptr<Program>> make(const Graph& graph, const Weights& weights,
                                               const Chooser& chooser, const AttentionChoice& attention,
                                               const ProgramLimits& limits, uint32_t workers);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ProgramMemory& memory() const { return memory_; }
  Result<void> allocate();

  /// Computes the batch. `on_logits` gets the logits [count][stride] of wanted rows first.. and may write to
  /// them; they are gone when it returns.
  using OnLogits = std::function<void(uint32_t first, uint32_t count, float* logits, uint64_t stride)>;
  Result<void> run(const Batch& batch, const KvStore& kv, Pool& pool, const OnLogits& on_logits);
  const StepTimes& times() const { return times_; }
  ActivationSums& activation_sums() { return activation_sums_; }

 private:
  /// A value's place: a buffer, a column in it, and the floats between rows.
  struct Place {
    uint32_t buffer = 0;
    uint64_t column0 = 0;
    uint64_t stride = 0;
  };
  struct Buffer {
    uint64_t capacity = 0;  // floats
    float* data = nullptr;
  };
  struct Step {
    NodeKind kind;
    std::vector<uint32_t> nodes;  // of a linear group: all of its nodes, else one
    void* op = nullptr;           // bound operation
    uint32_t shape = 0;           // attention: index into shapes_
    bool is_tail = false;         // behind take_rows
  };
  /// Attention layers of equal shape share a handle and a plan.
  struct Shape {
    mortise_attention_layer layer{};
    void* handle = nullptr;
    uint32_t workspace = 0;  // index into workspaces_
    mortise_plan plan{};
  };
  /// What a plan is written to. Shapes that differ in their sinks alone, often one for each layer, take turns
  /// in one.
  struct Workspace {
    uint64_t bytes = 0;
    AlignedMemory memory;
    uint32_t planned_for = UINT32_MAX;  // the shape whose plan of this step it holds
  };
  struct Run;  // one call of run

  Program(const Graph& graph, const Weights& weights, const Chooser& chooser,
          const AttentionChoice& attention, const ProgramLimits& limits, uint32_t workers);
  Result<void> bind_steps();
  Result<void> bind_op(uint32_t node, void** op);
  Result<uint32_t> bind_shape(const mortise_attention_layer& layer);
  uint32_t workspace_for(const Shape& shape);
  Result<uint64_t> longest_scratch(const Shape& shape) const;
  void lay_out();
  uint32_t take_buffer(const Node& node, std::vector<uint32_t>* free);
  bool runs_in_place(const Step& step, const std::vector<uint32_t>& last) const;
  void measure();
  void measure_linear(const Node& node, uint64_t rows, mortise_plan* plan);
  void measure_experts(const Node& node, uint64_t rows, mortise_plan* plan);
  Result<void> reserve_prepared(uint64_t bytes);
  Result<void> plan_attention(const Batch& batch, uint32_t shape);

  const Graph& graph_;
  const Weights& weights_;
  const Chooser& chooser_;
  const AttentionChoice& attention_;
  const ProgramLimits limits_;
  const uint32_t workers_;
  std::vector<Step> steps_;
  std::vector<Shape> shapes_;
  std::vector<Workspace> workspaces_;
  std::vector<Place> places_;  // of each node
  std::vector<Buffer> buffers_;
  uint64_t scratch_bytes_ = 0;  // of one worker
  uint64_t prepared_bytes_ = 0;
  ExpertRows expert_rows_;
  ProgramMemory memory_;
  StepTimes times_;
  ActivationSums activation_sums_;
  void* arena_ = nullptr;
  void* scratch_ = nullptr;
  void* prepared_ = nullptr;
};

}  // namespace mortise
