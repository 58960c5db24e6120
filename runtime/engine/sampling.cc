// Sampling: see sampling.h. Sums are in double and in the order of the candidates, so that a row's result
// does not depend on what else is in the batch.
#include "engine/sampling.h"

#include <algorithm>
#include <cmath>

#include "host/clock.h"

namespace mortise {
namespace {

/// log(sum(exp(logits))). NaN counts as minus infinity.
double log_sum_exp(const float* logits, uint32_t count) {
  float top = -INFINITY;
  for (uint32_t i = 0; i < count; ++i) top = std::max(top, logits[i]);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (logits[i] > top - 100) sum += std::exp(static_cast<double>(logits[i]) - top);
  return top + std::log(sum);
}

/// The draw over softmax of the candidates: the first whose cumulated share exceeds u.
uint32_t draw(const mortise_sample_row& row, double u) {
  if (row.count == 1) return row.ids[0];
  float top = -INFINITY;
  for (uint32_t i = 0; i < row.count; ++i) top = std::max(top, row.logits[i]);
  double sum = 0;
  // Weights replace the logits, which are not needed any more. Below exp(-80) a share is under 2^-115: none.
  for (uint32_t i = 0; i < row.count; ++i) {
    const float x = row.logits[i] - top;
    row.logits[i] = x > -80 ? std::exp(x) : 0.0f;
    sum += row.logits[i];
  }
  double left = u * sum;
  uint32_t last = 0;
  for (uint32_t i = 0; i < row.count; ++i) {
    if (row.logits[i] <= 0) continue;
    last = i;
    left -= row.logits[i];
    if (left < 0) break;
  }
  return row.ids[last];
}

}  // namespace

TokenLogprob log_probability(const float* logits, uint32_t vocab, uint32_t token, uint32_t top) {
  const double total = log_sum_exp(logits, vocab);
  const auto value = [&](uint32_t id) {
    const double p = static_cast<double>(logits[id]) - total;
    // JSON has no infinity; the floor is the one that the field uses.
    return static_cast<float>(p >= -9999.0 ? p : -9999.0);
  };
  TokenLogprob out;
  out.logprob = value(token);
  const auto before = [&](uint32_t a, uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  // A short sorted list is enough: `top` is at most 20.
  for (uint32_t id = 0; id < vocab && top > 0; ++id) {
    if (std::isnan(logits[id]) || (out.top_ids.size() == top && !before(id, out.top_ids.back()))) continue;
    if (out.top_ids.size() == top) out.top_ids.pop_back();
    out.top_ids.insert(std::upper_bound(out.top_ids.begin(), out.top_ids.end(), id, before), id);
  }
  for (uint32_t id : out.top_ids) out.top_logprobs.push_back(value(id));
  return out;
}

Result<uint32_t> sample(const SampleInput& input, const std::vector<SamplerLink>& links,
                        std::vector<SamplerValues>* values, uint32_t* ids) {
  bool is_number = false;
  for (uint32_t i = 0; i < input.vocab; ++i) {
    if (std::isnan(input.logits[i])) input.logits[i] = -INFINITY;
    is_number = is_number || input.logits[i] > -INFINITY;
    ids[i] = i;
  }
  if (!is_number)
    return fail(Code::internal, "logits", "the model gave no finite logit; weights or a kernel are damaged");
  const auto address = [](const void* random, uint32_t at) {
    return uniform(*static_cast<const RandomAddress*>(random), at);
  };
  mortise_sample_row row{
      sizeof(row),   MORTISE_ROW_DENSE,   input.vocab,        input.vocab, ids,     input.logits, nullptr,
      input.history, input.history_count, input.prompt_count, nullptr,     address, &input.random};
  for (size_t i = 0; i < links.size(); ++i) {
    SamplerValues& own = (*values)[i];
    if (own.is_identity) continue;
    row.values = own.values.data();
    row.state = own.state.empty() ? nullptr : own.state.data();
    mortise_sample_row* rows[] = {&row};
    mortise_error error = c_error();
    const uint64_t begin = now_ns();
    const mortise_status status = links[i].calls->apply(links[i].provider.self, rows, 1, &error);
    if (input.samplers_ns != nullptr) *input.samplers_ns += now_ns() - begin;
    if (status != MORTISE_OK) return pass(from_c(status, error));
    if (row.count == 0 || row.count > input.vocab || row.ids[0] >= input.vocab)
      return fail(Code::internal, "sampler '" + links[i].provider.name + "'",
                  "left no candidate, or more than there were");
  }
  const uint32_t token = draw(row, uniform(input.random, 0));
  return token < input.vocab ? Result<uint32_t>(token)
                             : fail(Code::internal, "sampler", "a candidate outside the vocabulary");
}

}  // namespace mortise
