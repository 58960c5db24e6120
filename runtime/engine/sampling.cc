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

/// Ids within the vocabulary, and one to draw. Other samplers and the draw rely on it.
bool is_usable(const uint32_t* ids, const float* logits, uint32_t count, uint32_t vocab) {
  bool is_inside = true, is_number = false;
  for (uint32_t i = 0; i < count; ++i) {
    is_inside &= ids[i] < vocab;
    is_number |= logits[i] > -INFINITY;
  }
  return is_inside && is_number;
}

/// The draw over softmax of the candidates: the first whose cumulated share exceeds u.
uint32_t draw(const uint32_t* ids, float* logits, uint32_t count, double u) {
  if (count == 1) return ids[0];
  float top = -INFINITY;
  for (uint32_t i = 0; i < count; ++i) top = std::max(top, logits[i]);
  double sum = 0;
  // Weights replace the logits, which are not needed any more. Below exp(-80) a share is under 2^-115: none.
  for (uint32_t i = 0; i < count; ++i) {
    const float x = logits[i] - top;
    // The largest is 1 also where it is infinite, and no difference is a number.
    logits[i] = logits[i] == top ? 1.0f : x > -80 ? std::exp(x) : 0.0f;
    sum += logits[i];
  }
  double left = u * sum;
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (logits[i] <= 0) continue;
    last = i;
    left -= logits[i];
    if (left < 0) break;
  }
  return ids[last];
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
  uint32_t flags = MORTISE_ROW_DENSE, count = input.vocab;
  for (size_t i = 0; i < links.size(); ++i) {
    SamplerValues& own = (*values)[i];
    if (own.is_identity) continue;
    // A row of its own for each link: what one does to fields that are not its to change ends with it.
    mortise_sample_row row{sizeof(row),
                           flags,
                           count,
                           input.vocab,
                           ids,
                           input.logits,
                           own.values.data(),
                           input.history,
                           input.history_count,
                           input.prompt_count,
                           own.state.empty() ? nullptr : own.state.data(),
                           address,
                           &input.random};
    mortise_sample_row* rows[] = {&row};
    mortise_error error = c_error();
    const uint64_t begin = now_ns();
    const mortise_status status = links[i].calls->apply(links[i].provider.self, rows, 1, &error);
    if (input.samplers_ns != nullptr) *input.samplers_ns += now_ns() - begin;
    if (status != MORTISE_OK) return pass(links[i].provider.error("sampler", status, error));
    if (row.count == 0 || row.count > count)
      return fail(Code::internal, "sampler '" + links[i].provider.name + "'",
                  "left no candidate, or more than there were");
    if (!is_usable(ids, input.logits, row.count, input.vocab))
      return fail(Code::internal, "sampler '" + links[i].provider.name + "'",
                  "left a candidate outside the vocabulary, or none with a probability");
    flags = row.flags;
    count = row.count;
  }
  return draw(ids, input.logits, count, uniform(input.random, 0));
}

}  // namespace mortise
