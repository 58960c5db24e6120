// The scheduler: which sequences run in the next step, with which rows and blocks, and what the step's logits
// mean. Thread rule: the engine thread. Flow: Engine hands requests in -> step() builds one batch of prompt
// chunks and decoding sequences -> Program -> log-probabilities and draws -> events.
//
// When blocks run out the youngest sequence gives its blocks back and waits, to be computed again later; what
// was accepted is never lost. Batch invariance of the kernels makes the second computation give the same
// bits.
#pragma once
#include <mortise/cpp/result.h>

#include <deque>
#include <memory>
#include <vector>

#include "engine/kv_pool.h"
#include "engine/sampling.h"
#include "engine/sequence.h"
#include "host/pool.h"
#include "model/kv_store.h"
#include "model/program.h"

namespace mortise {

struct SchedulerLimits {
  uint32_t max_sequences =
      0;  // that run at once, at most max_batch_tokens: each can have a row in every step
  uint32_t max_batch_tokens = 0;
  uint32_t context = 0;  // most tokens of a sequence: the pipeline's context, or what the KV pool holds
  uint32_t vocab = 0;
  // As mortise_arch_info has them.
  uint32_t rope_length_from = 0;
  bool has_rope_of_each_length = false;
};

struct SchedulerStats {
  uint64_t steps = 0, preemptions = 0, prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
  uint64_t requests_done = 0, requests_failed = 0, step_ns = 0, host_ns = 0, steps_failed = 0;
};

class Scheduler {
 public:
  Scheduler(Program& program, const KvStore& kv, KvPool& blocks, Pool& pool,
            const std::vector<SamplerLink>& links, PieceOf piece_of, const SchedulerLimits& limits);

  void add(std::unique_ptr<Request> request);
  /// Ends a sequence wherever it is; its blocks are free at once.
  void cancel(uint64_t id);
  void cancel_all();
  /// Ends every sequence with an error: after a step that could not be finished.
  void fail_all(const Error& error);
  /// One step; false where there is nothing to do until a request, a cancel or a score's reader comes.
  bool step();

  size_t running() const { return running_.size(); }
  size_t waiting() const { return waiting_.size(); }
  /// Sequences, running or waiting, that no reader holds up.
  size_t active() const;
  const SchedulerStats& stats() const { return stats_; }

 private:
  using SequencePtr = std::unique_ptr<Sequence>;
  /// A sequence's part of the batch: rows [row0, row0 + count).
  struct Chunk {
    Sequence* sequence;
    uint32_t row0, count;
  };
  /// A row whose logits are wanted: scores the next prompt token, or draws one.
  struct Wanted {
    Sequence* sequence;
    uint32_t position;
    bool draws;
    Result<uint32_t> token = 0;
    TokenLogprob logprob;
    uint64_t samplers_ns = 0;
  };

  void admit();
  KvPool::Key root_of(const Sequence& sequence) const;
  bool may_enter(const Sequence& sequence) const;
  bool make_way();
  void build_batch();
  bool add_chunk(Sequence* sequence, uint32_t budget);
  bool take_blocks(Sequence* sequence, uint32_t tokens);
  uint32_t chunk_size(const Sequence& sequence) const;
  bool preempt_for(const Sequence* sequence);
  void drop_from_batch(const Sequence* sequence);
  void fill_arrays();
  void on_logits(uint32_t first, uint32_t count, float* logits, uint64_t stride);
  void work_row(Wanted* wanted, float* logits, uint32_t worker);
  void finish_step();
  bool finish_row(Wanted* wanted);
  void seal_blocks(Sequence* sequence);
  void give_back(Sequence* sequence);
  void fail_step(const Error& error);
  void fail_one(Sequence* sequence, const Error& error);
  void remove(const Sequence* sequence);

  Program& program_;
  const KvStore& kv_;
  KvPool& blocks_;
  Pool& pool_;
  const std::vector<SamplerLink>& links_;
  const PieceOf piece_of_;
  const SchedulerLimits limits_;

  std::deque<SequencePtr> waiting_;
  std::vector<SequencePtr> running_;
  uint64_t next_order_ = 1;

  std::vector<Chunk> chunks_;
  std::vector<Wanted> wanted_;
  std::vector<uint32_t> wanted_rows_, tokens_, lengths_, sequence_rows_, kv_lengths_, block_table_;
  std::vector<int32_t> positions_;
  std::vector<int64_t> slots_;
  struct Scratch {  // of one worker, [vocab] each
    std::vector<uint32_t> ids;
    std::vector<float> raw_logits;
  };
  std::vector<Scratch> scratch_;
  SchedulerStats stats_;
  uint64_t samplers_ns_ = 0;  // of this step, as if the rows of a chunk ran side by side
};

}  // namespace mortise
