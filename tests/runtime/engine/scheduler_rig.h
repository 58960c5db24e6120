// A scheduler over a small model without attention, driven step by step.
// Thread rule: single-threaded, but for the pool. Flow: tests send requests and scores, step, and read.
#pragma once
#include "engine/scheduler.h"
#include "engine/score.h"
#include "runtime/model/program_rig.h"

namespace mortise_test {

inline constexpr uint32_t kVocab = 11, kFrom = 40, kContext = 80;

/// Logits of a row: of the token's own embedding, turned by an angle that depends on position and length.
struct SchedulerRig : ModelRig {
  KvPool blocks;
  std::vector<SamplerLink> links;
  std::unique_ptr<Scheduler> scheduler;
  uint64_t next_id = 1;
  std::vector<float> table;  // [vocab][4]

  SchedulerRig(bool each_length, uint32_t block_count) : blocks(block_count, true) {
    table = add("table", {kVocab, 4});
    emit(
        [](const mortise_builder& b) {
          const mortise_arch_info info{sizeof(info), 1, 4, 1, 1, 4, kVocab, kContext, 0, 0, "test"};
          b.info(b.ctx, &info);
          const mortise_matrix_source source{sizeof(source), 0, str("table"), 0, 0, 0};
          const uint32_t table = b.matrix(b.ctx, &source), x = b.embed(b.ctx, table);
          const double near[] = {0.3, 0.2}, far[] = {0.03, 0.02};
          const mortise_attr attrs[] = {{"inverse_frequencies", MORTISE_LIST, 2, 0, 0, nullptr, near},
                                        {"long_inverse_frequencies", MORTISE_LIST, 2, 0, 0, nullptr, far},
                                        {"long_from", MORTISE_INT, 0, kFrom, 0, nullptr, nullptr}};
          const mortise_op_use angles{sizeof(angles),         0,       0,       3,
                                      "mortise.rope_table/1", nullptr, nullptr, attrs};
          const mortise_attr shape[] = {{"head_dim", MORTISE_INT, 0, 4, 0, nullptr, nullptr},
                                        {"dims", MORTISE_INT, 0, 4, 0, nullptr, nullptr},
                                        {"interleaved", MORTISE_INT, 0, 0, 0, nullptr, nullptr}};
          const uint32_t inputs[] = {x, b.op(b.ctx, &angles)};
          const mortise_op_use rope{sizeof(rope), 2, 0, 3, "mortise.rope/1", inputs, nullptr, shape};
          b.logits(b.ctx, b.linear(b.ctx, b.take_rows(b.ctx, b.op(b.ctx, &rope)), table, 0));
        },
        {32, 4, 8, kContext}, false);
    scheduler = std::make_unique<Scheduler>(
        *program, kv(), blocks, pool(), links, PieceOf(),
        SchedulerLimits{8, 32, std::min(kContext, block_count * KvPool::kBlockTokens), kVocab, kFrom,
                        each_length});
  }

  std::shared_ptr<Channel> send(uint32_t prompt, uint64_t max_tokens) {
    auto request = std::make_unique<Request>();
    request->id = next_id++;
    request->channel = *Channel::make();
    for (uint32_t i = 0; i < prompt; ++i) request->prompt.push_back(i * 7 % kVocab);
    request->max_tokens = max_tokens;
    auto channel = request->channel;
    scheduler->add(std::move(request));
    return channel;
  }
  /// A score of tokens 0, 7, 14, ..
  std::shared_ptr<Score> score(uint32_t tokens) {
    auto request = std::make_unique<Request>();
    request->id = next_id++;
    request->max_tokens = 0;
    request->caches = false;
    for (uint32_t i = 0; i < tokens; ++i) request->prompt.push_back(i * 7 % kVocab);
    auto out = request->score = std::make_shared<Score>(tokens, kVocab);
    scheduler->add(std::move(request));
    return out;
  }
  struct Answer {
    uint64_t cached = 0;
    std::vector<uint32_t> tokens;
  };
  /// Runs to the end of all; what one of them got.
  Answer answer(const std::shared_ptr<Channel>& channel) {
    while (scheduler->step()) {
    }
    Answer out;
    mortise_event event{};
    while (channel->next(0, &event) == 1) {
      out.tokens.insert(out.tokens.end(), event.tokens, event.tokens + event.token_count);
      if (event.type == MORTISE_EVENT_DONE) {
        out.cached = event.cached_tokens;
        break;
      }
    }
    return out;
  }
};

}  // namespace mortise_test
