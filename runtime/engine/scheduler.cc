// Scheduler: admission, preemption and the batch. What the logits mean is in scheduler_finish.cc.
// Thread rule and flow: see scheduler.h.
#include "engine/scheduler.h"

#include <algorithm>
#include <cassert>

#include "engine/score.h"
#include "host/clock.h"

namespace mortise {
namespace {

constexpr uint32_t kBlock = KvPool::kBlockTokens;

uint32_t blocks_for(uint64_t tokens) { return static_cast<uint32_t>((tokens + kBlock - 1) / kBlock); }

}  // namespace

Scheduler::Scheduler(Program& program, const KvStore& kv, KvPool& blocks, Pool& pool,
                     const std::vector<SamplerLink>& links, PieceOf piece_of, const SchedulerLimits& limits)
    : program_(program),
      kv_(kv),
      blocks_(blocks),
      pool_(pool),
      links_(links),
      piece_of_(std::move(piece_of)),
      limits_(limits),
      scratch_(pool.workers(), {std::vector<uint32_t>(limits.vocab), std::vector<float>(limits.vocab)}) {}

void Scheduler::add(std::unique_ptr<Request> request) {
  auto sequence = std::make_unique<Sequence>(std::move(request), limits_.context);
  sequence->root = sequence->key = root_of(*sequence);
  stats_.prompt_tokens += sequence->prompt_count();
  if (sequence->request().echo && !sequence->scores_prompt()) sequence->echo_prompt(piece_of_);
  waiting_.push_back(std::move(sequence));
}

/// Keys under another RoPE are other keys: those sequences share no blocks.
KvPool::Key Scheduler::root_of(const Sequence& sequence) const {
  const uint32_t length = sequence.admitted_length();
  if (limits_.rope_length_from == 0 || length <= limits_.rope_length_from) return KvPool::Key::root(0);
  return KvPool::Key::root(limits_.has_rope_of_each_length ? length : 1);
}

/// A sequence enters while there are blocks for all of its tokens and one more for each that runs, so that
/// entering does not make another one leave at once. Alone it always enters.
bool Scheduler::may_enter(const Sequence& sequence) const {
  if (running_.size() >= limits_.max_sequences) return false;
  return running_.empty() ||
         blocks_.available() >= blocks_for(uint64_t{sequence.length()} + 1) + running_.size();
}

/// Where somebody waits for a place, a score that only waits for its reader gives up its own: whoever reads
/// it may be waiting for that other one. False where there is none.
bool Scheduler::make_way() {
  const auto idle =
      std::find_if(running_.rbegin(), running_.rend(), [](const SequencePtr& s) { return !s->can_go_on(); });
  if (idle == running_.rend()) return false;
  SequencePtr sequence = std::move(*idle);
  running_.erase(std::next(idle).base());
  give_back(sequence.get());
  waiting_.push_back(std::move(sequence));
  ++stats_.preemptions;
  return true;
}

void Scheduler::admit() {
  for (size_t at = 0; at < waiting_.size();) {
    Sequence& next = *waiting_[at];
    if (!next.can_go_on()) {
      ++at;
      continue;
    }
    // References that a found prefix takes count as available: they are no longer evictable, but need no new
    // block.
    while (!may_enter(next))
      if (!make_way()) return;
    if (next.request().caches && !next.scores_prompt()) {
      KvPool::Prefix prefix = blocks_.find(next.root, next.tokens.data(), next.length() - 1);
      next.blocks = std::move(prefix.blocks);
      next.key = prefix.key;
      next.sealed = static_cast<uint32_t>(next.blocks.size());
      next.computed = next.sealed * kBlock;
    }
    if (next.order == 0) {
      next.order = next_order_++;
      next.cached = next.computed;
      stats_.cached_tokens += next.cached;
    }
    running_.push_back(std::move(waiting_[at]));
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(at));
  }
}

void Scheduler::give_back(Sequence* sequence) {
  blocks_.release(sequence->blocks);
  sequence->blocks.clear();
  sequence->computed = sequence->sealed = 0;
  sequence->key = sequence->root;
}

void Scheduler::remove(const Sequence* sequence) {
  std::erase_if(running_, [&](const SequencePtr& s) { return s.get() == sequence; });
}

void Scheduler::cancel(uint64_t id) {
  const auto is_it = [&](const SequencePtr& s) { return s->id() == id; };
  const auto end = [&](SequencePtr sequence) {
    give_back(sequence.get());
    sequence->send_done(MORTISE_FINISH_CANCELLED);
    ++stats_.requests_done;
  };
  if (auto at = std::find_if(running_.begin(), running_.end(), is_it); at != running_.end()) {
    SequencePtr sequence = std::move(*at);
    running_.erase(at);
    end(std::move(sequence));
  } else if (auto queued = std::find_if(waiting_.begin(), waiting_.end(), is_it); queued != waiting_.end()) {
    SequencePtr sequence = std::move(*queued);
    waiting_.erase(queued);
    end(std::move(sequence));
  }
}

void Scheduler::cancel_all() {
  while (!running_.empty()) cancel(running_.back()->id());
  while (!waiting_.empty()) cancel(waiting_.back()->id());
}

void Scheduler::fail_all(const Error& error) {
  ++stats_.steps_failed;
  for (const SequencePtr& s : running_) fail_one(s.get(), error);
  for (const SequencePtr& s : waiting_) fail_one(s.get(), error);
  running_.clear();
  waiting_.clear();
}

/// The youngest running sequence, other than `sequence` itself unless it is the youngest, goes back to the
/// queue's head.
bool Scheduler::preempt_for(const Sequence* sequence) {
  auto youngest =
      std::max_element(running_.begin(), running_.end(),
                       [](const SequencePtr& a, const SequencePtr& b) { return a->order < b->order; });
  SequencePtr victim = std::move(*youngest);
  running_.erase(youngest);
  const bool is_itself = victim.get() == sequence;
  drop_from_batch(victim.get());
  give_back(victim.get());
  waiting_.push_front(std::move(victim));
  ++stats_.preemptions;
  return !is_itself;
}

void Scheduler::drop_from_batch(const Sequence* sequence) {
  std::erase_if(chunks_, [&](const Chunk& c) { return c.sequence == sequence; });
}

/// Blocks for the first `tokens` tokens. False where the sequence itself had to leave.
bool Scheduler::take_blocks(Sequence* sequence, uint32_t tokens) {
  while (sequence->blocks.size() < blocks_for(tokens)) {
    if (std::optional<uint32_t> block = blocks_.take()) {
      sequence->blocks.push_back(*block);
    } else if (!preempt_for(sequence)) {
      return false;
    }
  }
  return true;
}

size_t Scheduler::active() const {
  const auto goes_on = [](const SequencePtr& s) { return s->can_go_on(); };
  return static_cast<size_t>(std::count_if(running_.begin(), running_.end(), goes_on) +
                             std::count_if(waiting_.begin(), waiting_.end(), goes_on));
}

/// The most tokens that a sequence may take in a step. Rows that a score's reader was given already are only
/// computed again.
uint32_t Scheduler::chunk_size(const Sequence& s) const {
  const uint32_t left = s.length() - s.computed;
  if (s.request().score == nullptr) return left;
  return std::min(left, s.computed < s.scored ? s.scored - s.computed : Score::kRowsMax);
}

bool Scheduler::add_chunk(Sequence* sequence, uint32_t budget) {
  const uint32_t count = std::min(chunk_size(*sequence), budget);
  if (!take_blocks(sequence, sequence->computed + count)) return false;
  chunks_.push_back({sequence, 0, count});
  return true;
}

/// Decoding sequences first, so that streams go on; then prompts, oldest first, in what is left of the
/// budget.
void Scheduler::build_batch() {
  chunks_.clear();
  std::vector<Sequence*> decoding, prompts;
  for (const SequencePtr& s : running_)
    if (s->can_go_on()) (s->length() - s->computed == 1 ? decoding : prompts).push_back(s.get());
  const auto is_running = [&](const Sequence* sequence) {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const SequencePtr& s) { return s.get() == sequence; });
  };
  const auto used = [&] {
    uint32_t sum = 0;
    for (const Chunk& c : chunks_) sum += c.count;
    return sum;
  };
  for (Sequence* s : decoding)
    if (is_running(s)) add_chunk(s, 1);
  for (Sequence* s : prompts) {
    const uint32_t left = limits_.max_batch_tokens - used();
    if (left == 0) break;
    if (is_running(s)) add_chunk(s, left);
  }
}

void Scheduler::fill_arrays() {
  wanted_.clear();
  wanted_rows_.clear();
  tokens_.clear();
  lengths_.clear();
  positions_.clear();
  slots_.clear();
  sequence_rows_.assign(1, 0);
  kv_lengths_.clear();
  size_t stride = 1;
  for (const Chunk& c : chunks_) stride = std::max(stride, c.sequence->blocks.size());
  block_table_.assign(chunks_.size() * stride, 0);
  for (size_t i = 0; i < chunks_.size(); ++i) {
    Chunk& c = chunks_[i];
    Sequence& s = *c.sequence;
    c.row0 = static_cast<uint32_t>(tokens_.size());
    std::copy(s.blocks.begin(), s.blocks.end(), block_table_.begin() + static_cast<ptrdiff_t>(i * stride));
    for (uint32_t at = s.computed; at < s.computed + c.count; ++at) {
      const bool draws = at + 1 == s.length() && s.generated() < s.request().max_tokens;
      const bool scores = s.request().score != nullptr ? at >= s.scored
                                                       : at + 1 < s.prompt_count() && s.scores_prompt() &&
                                                             at >= s.prompt_logprobs.size();
      if (draws || scores) {
        wanted_rows_.push_back(static_cast<uint32_t>(tokens_.size()));
        wanted_.push_back({&s, at, draws, 0, {}});
      }
      tokens_.push_back(s.tokens[at]);
      lengths_.push_back(s.admitted_length());
      positions_.push_back(static_cast<int32_t>(at));
      slots_.push_back(int64_t{s.blocks[at / kBlock]} * kBlock + at % kBlock);
    }
    sequence_rows_.push_back(static_cast<uint32_t>(tokens_.size()));
    kv_lengths_.push_back(s.computed + c.count);
  }
}

bool Scheduler::step() {
  admit();
  if (running_.empty()) return false;
  const uint64_t begin = now_ns();
  samplers_ns_ = 0;
  build_batch();
  if (chunks_.empty()) return active() > 0;  // all that ran had to give way, and enter again
  fill_arrays();
  Batch batch;
  batch.tokens = tokens_.data();
  batch.lengths = lengths_.data();
  batch.attention = {sizeof(mortise_attention_step),
                     static_cast<uint32_t>(tokens_.size()),
                     static_cast<uint32_t>(chunks_.size()),
                     static_cast<uint32_t>(block_table_.size() / chunks_.size()),
                     positions_.data(),
                     slots_.data(),
                     sequence_rows_.data(),
                     kv_lengths_.data(),
                     block_table_.data()};
  batch.wanted = wanted_rows_.data();
  batch.wanted_count = static_cast<uint32_t>(wanted_rows_.size());
  Result<void> done =
      program_.run(batch, kv_, pool_, [this](uint32_t first, uint32_t count, float* logits, uint64_t stride) {
        on_logits(first, count, logits, stride);
      });
  if (done)
    finish_step();
  else
    fail_step(done.error());
  ++stats_.steps;
  const uint64_t spent = now_ns() - begin;
  stats_.step_ns += spent;
  stats_.host_ns += spent - std::min(spent, program_.times().plugins_ns + samplers_ns_);
  return true;
}

}  // namespace mortise
