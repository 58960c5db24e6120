// The probe: pack some real rows, multiply, compare in float64. Thread rule and flow: see probe.h.
#include "model/probe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "host/memory.h"
#include "model/pack_source.h"

namespace mortise {
namespace {

constexpr uint64_t kProbeWeightRows = 32;  // rows of the weight
constexpr uint64_t kProbeRows = 3;         // rows of x: one alone, then all
constexpr double kFloatSlack = 1e-6;       // of the reference's own rounding to float32

/// Numbers of both signs and various sizes, the same on every run.
std::vector<float> probe_input(uint64_t count) {
  std::vector<float> x(count);
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (float& value : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int32_t>(state >> 40) - (1 << 23)) / (1 << 22);
  }
  return x;
}

struct Run {
  const Weight& weight;
  void* handle;
  const float* x;

  /// y[m][rows] of the kernel under test, by one worker.
  std::vector<float> outputs(uint64_t m) const {
    const mortise_linear& calls = *weight.calls;
    void* self = weight.provider->self;
    const uint64_t k = weight.desc.k, n = std::min(weight.desc.rows, kProbeWeightRows);
    std::vector<float> y(m * n, NAN);
    mortise_plan plan{sizeof(mortise_plan), 0, 0};
    calls.plan(self, weight.choice.claim, &weight.desc, m, 1, &plan);
    const AlignedMemory scratch(allocate_aligned(plan.scratch_bytes, 64));
    const bool prepared = std::string_view(weight.claim->activation) != "act.f32/1";
    const AlignedMemory act(
        allocate_aligned(prepared ? calls.act_bytes(self, weight.choice.claim, m, k) : 1, 64));
    if (prepared) {
      const uint32_t tasks = calls.act_tasks(self, weight.choice.claim, m, k, 1);
      for (uint32_t t = 0; t < tasks; ++t)
        calls.act_prepare(self, weight.choice.claim, x, k, m, k, act.get(), t, tasks);
    }
    const mortise_linear_args args{sizeof(args), plan.tasks, m, prepared ? act.get() : x, k, y.data(), n,
                                   nullptr,      nullptr,    0};
    for (uint32_t t = 0; t < plan.tasks; ++t) calls.run(self, handle, &args, t, scratch.get());
    return y;
  }
};

/// What is wrong with y, or nothing.
std::string compare(const Weight& weight, const std::vector<float>& w, const float* x, uint64_t m,
                    const std::vector<float>& y) {
  const uint64_t k = weight.desc.k, n = w.size() / k;
  for (uint64_t row = 0; row < m; ++row)
    for (uint64_t i = 0; i < n; ++i) {
      double sum = 0, size = 0;
      for (uint64_t j = 0; j < k; ++j) {
        const double product = double(x[row * k + j]) * double(w[i * k + j]);
        sum += product;
        size += std::fabs(product);
      }
      const double got = y[row * n + i], off = std::fabs(got - sum);
      const double allowed = (weight.claim->max_error + kFloatSlack) * size;
      if (!std::isfinite(sum) && !std::isfinite(got)) continue;
      if (!(off <= allowed))
        return "row " + std::to_string(weight.desc.row0 + i) + " gives " + std::to_string(got) +
               " instead of " + std::to_string(sum) + " (allowed error " + std::to_string(allowed) + ")";
    }
  return "";
}

/// What is wrong with gathered rows, which a tied embedding is made of, or nothing.
std::string gathers(const Weight& weight, void* handle, const std::vector<float>& w) {
  const uint64_t k = weight.desc.k, n = w.size() / k;
  std::vector<uint32_t> ids(n);
  for (uint64_t i = 0; i < n; ++i) ids[i] = static_cast<uint32_t>(n - 1 - i);
  std::vector<float> out(w.size());
  weight.calls->unpack_rows(weight.provider->self, handle, ids.data(), n, out.data());
  for (uint64_t i = 0; i < n; ++i)
    if (std::memcmp(&out[i * k], &w[ids[i] * k], k * sizeof(float)) != 0)
      return "row " + std::to_string(weight.desc.row0 + ids[i]) + " is gathered with other bits than decoded";
  return "";
}

}  // namespace

Result<std::string> probe_weight(const Weight& weight, const OpenModel& model) {
  MORTISE_TRY(source, PackSource::open(weight, model, nullptr));
  Weight part = weight;
  const uint64_t n = std::min(weight.desc.rows, kProbeWeightRows), k = weight.desc.k;
  part.desc.rows = n;
  const mortise_linear& calls = *part.calls;
  void* self = part.provider->self;
  const AlignedMemory packed(allocate_aligned(calls.packed_bytes(self, part.choice.claim, &part.desc), 64));
  mortise_error error = c_error();
  mortise_status status =
      calls.pack(self, part.choice.claim, &part.desc, source.planes(), 0, n, packed.get(), &error);
  if (status != MORTISE_OK) return "pack failed: " + from_c(status, error).text();
  void* handle = nullptr;
  status = calls.bind(self, part.choice.claim, &part.desc, packed.get(), &handle, &error);
  if (status != MORTISE_OK) return "bind failed: " + from_c(status, error).text();

  std::vector<float> w(n * k);
  part.desc.format->decode_rows(part.desc.format_self, part.desc.tensor, source.planes(), part.desc.row0, n,
                                w.data());
  const std::vector<float> x = probe_input(kProbeRows * k);
  const Run run{part, handle, x.data()};
  std::string wrong = compare(part, w, x.data(), 1, run.outputs(1));
  if (wrong.empty()) wrong = compare(part, w, x.data(), kProbeRows, run.outputs(kProbeRows));
  if (wrong.empty() && (part.claim->features & MORTISE_LINEAR_UNPACK) != 0) wrong = gathers(part, handle, w);
  calls.unbind(self, handle);
  model.release(*weight.desc.tensor);
  return wrong;
}

Result<bool> probe_weights(const Weights& weights, const OpenModel& model, Chooser* chooser, Log* log) {
  std::set<std::tuple<uint32_t, uint32_t, std::string>> seen;
  bool dropped = false;
  for (const Weight& w : weights.list()) {
    if (!w.is_packed()) continue;
    const std::string format = w.desc.tensor->format;
    if (!seen.emplace(w.choice.provider, w.choice.claim, format).second) continue;
    MORTISE_TRY(wrong, probe_weight(w, model));
    if (wrong.empty()) continue;
    const std::string what = "linear plugin '" + w.provider->name + "' computes " + format +
                             " wrongly: tensor '" + std::string(view(w.desc.tensor->name)) + "', " + wrong;
    if (!w.choice.pinned_at.empty())
      return fail(Code::bad_argument, w.choice.pinned_at, what + "; remove the pin or repair the plugin");
    log->warn(what + "; it is not used");
    chooser->drop({w.choice.provider, w.choice.claim, format, wrong});
    dropped = true;
  }
  return dropped;
}

}  // namespace mortise
