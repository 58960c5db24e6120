// Scheduler: what the logits of a step mean: scores of the prompt, drawn tokens, ended answers.
// Thread rule: the engine thread, rows on the pool's workers. Flow: see scheduler.h.
#include <algorithm>

#include "engine/scheduler.h"
#include "engine/score.h"

namespace mortise {

void Scheduler::on_logits(uint32_t first, uint32_t count, float* logits, uint64_t stride) {
  struct Job {
    Scheduler* self;
    Wanted* wanted;
    float* logits;
    uint64_t stride;
  } job{this, wanted_.data() + first, logits, stride};
  pool_.parallel(
      count,
      [](void* arg, uint32_t task, uint32_t worker) {
        auto& j = *static_cast<Job*>(arg);
        j.self->work_row(j.wanted + task, j.logits + task * j.stride, worker);
      },
      &job);
  uint64_t sum_ns = 0;
  for (uint32_t i = first; i < first + count; ++i) sum_ns += wanted_[i].samplers_ns;
  samplers_ns_ += sum_ns / std::min(count, pool_.workers());
}

void Scheduler::work_row(Wanted* wanted, float* logits, uint32_t worker) {
  Sequence& s = *wanted->sequence;
  if (Score* score = s.request().score.get()) {
    std::copy_n(logits, limits_.vocab, score->row(wanted->position - s.scored));
    return;
  }
  const int32_t top = s.request().top_logprobs;
  const uint32_t vocab = limits_.vocab;
  if (!wanted->draws) {
    wanted->logprob =
        log_probability(logits, vocab, s.tokens[wanted->position + 1], static_cast<uint32_t>(top));
    return;
  }
  // The chain changes the logits, and which token is drawn is known only after it: keep the raw ones where
  // both matter.
  Scratch& scratch = scratch_[worker];
  if (top >= 0) std::copy_n(logits, vocab, scratch.raw_logits.data());
  SampleInput input{logits,
                    vocab,
                    s.tokens.data(),
                    s.length(),
                    s.prompt_count(),
                    {s.request().seed, 0, s.length()},
                    &wanted->samplers_ns};
  wanted->token = sample(input, links_, &s.request().samplers, scratch.ids.data());
  if (top >= 0 && wanted->token)
    wanted->logprob =
        log_probability(scratch.raw_logits.data(), vocab, *wanted->token, static_cast<uint32_t>(top));
}

/// Full blocks become cache for others.
void Scheduler::seal_blocks(Sequence* sequence) {
  while ((sequence->sealed + 1) * KvPool::kBlockTokens <= sequence->computed) {
    const uint32_t index = sequence->sealed++;
    if (!sequence->request().caches) continue;
    sequence->key = blocks_.seal(sequence->blocks[index], sequence->key,
                                 sequence->tokens.data() + index * KvPool::kBlockTokens);
  }
}

/// True where the sequence is over.
bool Scheduler::finish_row(Wanted* wanted) {
  Sequence& s = *wanted->sequence;
  if (s.request().score != nullptr) return false;
  if (!wanted->draws) {
    s.prompt_logprobs.push_back(std::move(wanted->logprob));
    return false;
  }
  if (!wanted->token) {
    s.send_error(wanted->token.error(), "sampling_failed");
    ++stats_.requests_failed;
    return true;
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    SamplerValues& own = s.request().samplers[i];
    if (links_[i].calls->accept != nullptr && !own.state.empty())
      links_[i].calls->accept(links_[i].provider.self, own.state.data(), own.values.data(), *wanted->token);
  }
  if (!s.accept(*wanted->token, std::move(wanted->logprob), piece_of_)) {
    s.send_delta();
    return false;
  }
  stats_.completion_tokens += s.generated();
  ++stats_.requests_done;
  s.send_done(s.finish);
  return true;
}

void Scheduler::finish_step() {
  for (const Chunk& c : chunks_) {
    c.sequence->computed += c.count;
    seal_blocks(c.sequence);
  }
  size_t next = 0;
  for (const Chunk& c : chunks_) {
    Sequence* s = c.sequence;
    bool is_over = false;
    for (; next < wanted_.size() && wanted_[next].sequence == s; ++next) {
      // The prompt is complete: what was asked back of it goes out before the first token.
      if (wanted_[next].draws && s->scores_prompt()) s->echo_prompt(piece_of_);
      is_over = finish_row(&wanted_[next]);
    }
    if (s->request().score != nullptr && s->computed > s->scored) {
      s->request().score->publish(s->computed - s->scored);
      s->scored = s->computed;
    }
    if (!is_over && s->request().max_tokens == 0 && s->computed == s->length()) {
      if (s->scores_prompt()) s->echo_prompt(piece_of_);
      s->send_done(MORTISE_FINISH_LENGTH);
      ++stats_.requests_done;
      is_over = true;
    }
    if (!is_over) continue;
    give_back(s);
    remove(s);
  }
}

void Scheduler::fail_step(const Error& error) {
  ++stats_.steps_failed;
  for (const Chunk& c : chunks_) {
    fail_one(c.sequence, error);
    remove(c.sequence);
  }
}

void Scheduler::fail_one(Sequence* sequence, const Error& error) {
  sequence->send_error(error, "step_failed");
  ++stats_.requests_failed;
  give_back(sequence);
}

}  // namespace mortise
