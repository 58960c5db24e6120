// How fast the shipped kernels are on this machine: one thread, shapes of SmolLM2-135M.
// Thread rule: one thread. Flow: run by hand; prints a line for each kernel and instruction set, asserts
// nothing.
#include <xmmintrin.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "format.h"
#include "linear.h"
#include "naive.h"
#include "ops.h"
#include "paged.h"
#include "sdk/fake_host.h"

namespace {

using mortise_test::FakeHost;

constexpr uint64_t kRound_ns = 20'000'000;  // shortest time that is measured
constexpr int kRounds = 5;                  // the best one counts

/// Nanoseconds of one call, best of some rounds.
double time_ns(const FakeHost& host, const std::function<void()>& call) {
  call();
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t start = host.host().now_ns();
    uint64_t calls = 0, now = start;
    for (; now - start < kRound_ns; now = host.host().now_ns(), ++calls) call();
    best = std::min(best, static_cast<double>(now - start) / static_cast<double>(calls));
  }
  return best;
}

std::vector<float> normals(size_t count) {
  static std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& x : out) x = normal(engine);
  return out;
}

struct AlignedFree {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, AlignedFree>;
Memory memory(uint64_t bytes) { return Memory(std::aligned_alloc(64, (bytes + 127) / 64 * 64)); }

/// Q4_1 blocks of 32 elements in 20 bytes, with scales that keep results finite.
constexpr uint32_t kQ41 = 3;
std::vector<uint8_t> q4_1(uint64_t elements) {
  std::mt19937 engine(2);
  std::vector<uint8_t> out(elements / 32 * 20);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = i % 20 < 4 ? (i % 2 == 0 ? 0 : 0x28) : static_cast<uint8_t>(engine());
  return out;
}

void bench_linear(const FakeHost& host, const char* isa, uint64_t n, uint64_t k, uint64_t m) {
  linear_reference::Reference plugin(host.host(), {});
  gguf::Format<kQ41> format_self(host.host(), {});
  mortise_format format{sizeof(format), 0, "gguf.q4_1/1", 32, 20, nullptr, &gguf::decode_tensor_rows};
  const auto data = q4_1(n * k);
  mortise_tensor tensor{};
  tensor.size = sizeof(tensor);
  tensor.rank = 2;
  tensor.format = format.id;
  tensor.shape[0] = n;
  tensor.shape[1] = k;
  tensor.plane_count = 1;
  const mortise_linear_desc desc{sizeof(desc), 0, 0, n, k, &tensor, &format, &format_self};
  const auto& table = linear_reference::kTable;
  void* weight = nullptr;
  if (table.bind(&plugin, 0, &desc, data.data(), &weight, nullptr) != MORTISE_OK) return;
  mortise_plan plan{sizeof(plan), 0, 0};
  table.plan(&plugin, 0, &desc, m, 1, &plan);
  const Memory scratch = memory(plan.scratch_bytes);
  const auto x = normals(m * k);
  std::vector<float> y(m * n), decoded(16 * k);
  const mortise_linear_args args{sizeof(args), plan.tasks, m, x.data(), k, y.data(), n, nullptr, nullptr, 0};
  const double ns = time_ns(host, [&] {
    for (uint32_t task = 0; task < plan.tasks; ++task) table.run(&plugin, weight, &args, task, scratch.get());
  });
  const void* planes[] = {data.data()};
  const double decode_ns = time_ns(host, [&] {
    for (uint64_t row = 0; row + 16 <= n; row += 16)
      format.decode_rows(&format_self, &tensor, planes, row, 16, decoded.data());
  });
  std::printf(
      "linear q4_1 %-8s n %5lu k %5lu m %4lu: %10.0f ns, %6.2f GB/s, %7.1f GFLOP/s, decoding %4.0f%%\n", isa,
      n, k, m, ns, static_cast<double>(data.size()) / ns, 2.0 * static_cast<double>(n * k * m) / ns,
      100 * decode_ns / ns);
  table.unbind(&plugin, weight);
}

void bench_op(const FakeHost& host, const char* isa, const char* name, uint32_t claim, uint64_t cols,
              const std::vector<mortise_attr>& attrs, uint32_t inputs) {
  ops_reference::Reference plugin(host.host(), {});
  std::vector<const mortise_attr*> list;
  for (const auto& a : attrs) list.push_back(&a);
  const std::vector<uint64_t> input_cols(2, cols);
  const mortise_op_desc desc{sizeof(desc),
                             inputs,
                             static_cast<uint32_t>(attrs.size()),
                             0,
                             ops_reference::kClaims[claim]->op,
                             input_cols.data(),
                             list.data(),
                             nullptr};
  const auto& table = ops_reference::kTable;
  void* op = nullptr;
  mortise_error error = mortise::c_error();
  if (table.bind(&plugin, claim, &desc, &op, &error) != MORTISE_OK) {
    std::printf("%s: %s\n", name, error.message);
    return;
  }
  const auto a = normals(cols), b = normals(cols);
  std::vector<float> out(cols);
  const float* pointers[] = {a.data(), b.data()};
  const mortise_op_args args{sizeof(args), 1,    1,       pointers, input_cols.data(),
                             out.data(),   cols, nullptr, nullptr};
  const double ns = time_ns(host, [&] { table.run(&plugin, op, &args, 0, nullptr); });
  std::printf("%-10s %-8s cols %5lu: %10.0f ns, %5.2f ns per column\n", name, isa, cols, ns,
              ns / static_cast<double>(cols));
  table.unbind(&plugin, op);
}

/// `rows` last rows of a sequence of `context` tokens, heads as SmolLM2 has them.
void bench_attention(const FakeHost& host, const char* name, const mortise_attention& table, void* self,
                     uint32_t layout, uint32_t context, uint32_t rows) {
  mortise_attention_layer layer{};
  layer.size = sizeof(layer);
  layer.heads = 9;
  layer.kv_heads = 3;
  layer.k_dim = layer.v_dim = 64;
  layer.scale = 0.125f;
  void* handle = nullptr;
  if (table.bind(self, layout, &layer, &handle, nullptr) != MORTISE_OK) return;
  const uint64_t block_bytes = table.block_bytes(self, layout, &layer);
  std::vector<uint32_t> blocks((context + 15) / 16);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<uint32_t>(i);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  std::vector<int32_t> positions;
  std::vector<int64_t> slots;
  for (uint32_t i = 0; i < context; ++i) {
    positions.push_back(static_cast<int32_t>(i));
    slots.push_back(int64_t{blocks[i / 16]} * 16 + i % 16);
  }
  const auto q = normals(context * 576), kv = normals(context * 192);
  std::vector<float> out(context * 576);
  const Memory base = memory(blocks.size() * block_bytes);
  const auto step_of = [&](uint32_t first, const uint32_t* sequence_rows) {
    return mortise_attention_step{sizeof(mortise_attention_step),
                                  context - first,
                                  1,
                                  static_cast<uint32_t>(blocks.size()),
                                  positions.data() + first,
                                  slots.data() + first,
                                  sequence_rows,
                                  &context,
                                  blocks.data()};
  };
  const uint32_t all_rows[] = {0, context}, some_rows[] = {0, rows};
  const auto fill = step_of(0, all_rows), step = step_of(context - rows, some_rows);
  const Memory workspace = memory(table.plan_bytes(self, handle, rows, 1, context, 1));
  mortise_plan plan{sizeof(plan), 0, 0};
  if (table.plan(self, handle, &step, 1, workspace.get(), &plan, nullptr) != MORTISE_OK) return;
  const Memory scratch = memory(plan.scratch_bytes);
  mortise_attention_args args{sizeof(args), plan.tasks, &fill, workspace.get(), base.get(), q.data(),
                              576,          kv.data(),  192,   kv.data(),       192,        out.data(),
                              576};
  const double append_ns = time_ns(host, [&] { table.append(self, handle, &args, 0, context); });
  args.step = &step;
  const double ns = time_ns(host, [&] {
    for (uint32_t task = 0; task < plan.tasks; ++task) table.run(self, handle, &args, task, scratch.get());
  });
  const double seen = rows * (context - 0.5 * (rows - 1));
  std::printf(
      "attention %-20s %-4s context %5u rows %4u: %11.0f ns, %6.2f ns per token and row, %6.1f GFLOP/s, "
      "%5.1f GB/s of cache once, append %4.0f ns a row\n",
      name,
      layout == 0   ? "f32"
      : layout == 1 ? "f16"
                    : "bf16",
      context, rows, ns, ns / seen, 4 * 576 * seen / ns,
      static_cast<double>(blocks.size() * block_bytes) / ns, append_ns / context);
  table.unbind(self, handle);
}

}  // namespace

int main() {
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, as the host does
  const std::vector<std::pair<const char*, std::set<std::string>>> builds = {
      {"avx512f", {}}, {"avx2", {"avx512f"}}, {"sse2", {"avx512f", "avx2"}}};
  for (const auto& [isa, denied] : builds) {
    const FakeHost host(1, denied);
    for (const uint64_t m : {1, 8, 512}) bench_linear(host, isa, 1536, 576, m);
    bench_linear(host, isa, 576, 1536, 1);
    bench_op(host, isa, "norm", 0, 576,
             {{"rms", MORTISE_INT, 0, 1, 0, nullptr, nullptr},
              {"eps", MORTISE_FLOAT, 0, 0, 1e-5, nullptr, nullptr}},
             1);
    bench_op(host, isa, "add", 1, 576, {}, 2);
    for (const char* kind : {"silu", "gelu", "gelu_tanh"})
      bench_op(host, isa, kind, 8, 1536, {{"kind", MORTISE_STRING, 0, 0, 0, kind, nullptr}}, 2);
    attention_paged::Paged paged(host.host(), {});
    for (const uint32_t layout : {0, 1, 2}) {
      const std::string name = std::string("paged ") + isa;
      bench_attention(host, name.c_str(), attention_paged::kTable, &paged, layout, 512, 1);
      bench_attention(host, name.c_str(), attention_paged::kTable, &paged, layout, 4096, 1);
      bench_attention(host, name.c_str(), attention_paged::kTable, &paged, layout, 512, 512);
    }
  }
  const FakeHost host(1);
  attention_naive::Naive naive(host.host(), {});
  bench_attention(host, "naive", attention_naive::kTable, &naive, 1, 512, 1);
  bench_attention(host, "naive", attention_naive::kTable, &naive, 1, 512, 512);
  return 0;
}
