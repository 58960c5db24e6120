// attention/paged through the suite of all attention plugins, against naive, and its split long contexts.
// Thread rule: one thread, but for the test that runs a plan's tasks on several. Flow: as the host calls it.
#include <thread>

#include "naive.h"
#include "plan.h"
#include "plugins/attention/attention_suite.h"

using namespace mortise_test;

namespace {

template <class Plugin>
std::shared_ptr<void> make(const std::set<std::string>& denied) {
  FakeHost host(2, denied);
  return std::make_shared<Plugin>(host.host(), mortise::NoParams());
}
const Subject kPaged = {attention_paged::kTable, &make<attention_paged::Paged>};
const Subject kNaive = {attention_naive::kTable, &make<attention_naive::Naive>};

}  // namespace

TEST_CASE("attention paged agrees with float64 and does not depend on the batch", "[attention]") {
  check_shapes(kPaged);
}
TEST_CASE("attention paged has window, soft cap and sinks", "[attention]") { check_features(kPaged); }
TEST_CASE("attention paged stores what it should", "[attention]") { check_layouts(kPaged); }
TEST_CASE("attention paged refuses impossible layers", "[attention]") { check_refusals(kPaged); }
TEST_CASE("attention paged checks catch planted faults", "[attention]") { check_planted_faults(kPaged); }

TEST_CASE("attention paged and naive agree", "[attention]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  Random random(11);
  for (uint32_t layout = 0; layout < 3; ++layout) {
    const auto layer = layer_of(9, 3, 64, 64);
    const Tokens t(random, layer, 300);
    std::vector<std::vector<float>> results;
    for (const Subject* subject : {&kPaged, &kNaive}) {
      const auto self = subject->make({});
      Cache cache(subject->table, self.get(), layout, layer, {&t}, random);
      cache.step({{0, 0, 300}}, 2);
      results.push_back(cache.out(0));
    }
    for (size_t i = 0; i < results[0].size(); ++i) REQUIRE(std::fabs(results[0][i] - results[1][i]) < 2e-6f);
  }
}

TEST_CASE("attention paged splits a long context over workers without changing a bit", "[attention]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  Random random(12);
  auto layer = layer_of(4, 2, 24, 40);
  const Tokens a(random, layer, 2000), b(random, layer, 700);
  for (const uint32_t window : {0, 900}) {
    layer.window = window;
    const auto self = kPaged.make({});
    Cache one(kPaged.table, self.get(), 1, layer, {&a, &b}, random);
    Cache many(kPaged.table, self.get(), 1, layer, {&a, &b}, random);
    for (Cache* cache : {&one, &many}) cache->step({{0, 0, 1990}, {1, 0, 690}}, 2);
    for (uint32_t i = 0; i < 10; ++i) {
      one.step({{0, 1990 + i, 1}}, 1);
      one.step({{1, 690 + i, 1}}, 1);
      many.step({{0, 1990 + i, 1}, {1, 690 + i, 1}}, 3 + i);
    }
    CHECK(same_bits(one.out(0), many.out(0)));
    CHECK(same_bits(one.out(1), many.out(1)));
  }
}

namespace {

/// A decode step whose blocks lie in order, with the plan's memory and arrays.
struct DecodeStep {
  std::vector<int32_t> positions;
  std::vector<int64_t> slots;
  std::vector<uint32_t> rows = {0}, lengths, blocks;
  mortise_attention_step step{};

  DecodeStep(const std::vector<uint32_t>& contexts, uint32_t stride) {
    for (const uint32_t n : contexts) {
      const auto first = static_cast<uint32_t>(blocks.size());
      positions.push_back(static_cast<int32_t>(n) - 1);
      slots.push_back(int64_t{first} * 16 + n - 1);
      lengths.push_back(n);
      rows.push_back(static_cast<uint32_t>(positions.size()));
      for (uint32_t i = 0; i < stride; ++i) blocks.push_back(first + i);
    }
    const auto count = static_cast<uint32_t>(contexts.size());
    step = {sizeof(step), count,       count,          stride,       positions.data(),
            slots.data(), rows.data(), lengths.data(), blocks.data()};
  }
};

}  // namespace

TEST_CASE("attention paged shares one plan among layers and threads", "[attention]") {
  FlushToZero flush;
  Random random(13);
  const auto layer = layer_of(6, 2, 64, 64);
  const auto self = kPaged.make({});
  void* handle = nullptr;
  REQUIRE(kPaged.table.bind(self.get(), 0, &layer, &handle, nullptr) == MORTISE_OK);
  const DecodeStep decode({4000}, 250);
  const uint64_t block_floats = kPaged.table.block_bytes(self.get(), 0, &layer) / sizeof(float);
  Scratch workspace(kPaged.table.plan_bytes(self.get(), handle, 1, 1, 4000, 8));
  mortise_plan plan{sizeof(plan), 0, 0};
  REQUIRE(kPaged.table.plan(self.get(), handle, &decode.step, 8, workspace.data(), &plan, nullptr) ==
          MORTISE_OK);
  REQUIRE(plan.tasks > 2);
  const auto q = random.normals(384);
  std::vector<std::vector<float>> results;
  std::vector<std::vector<float>> caches = {random.normals(250 * block_floats),
                                            random.normals(250 * block_floats)};
  for (const int run : {0, 1, 0, 1}) {
    std::vector<float> out(384, NAN);
    const mortise_attention_args args{sizeof(args),
                                      plan.tasks,
                                      &decode.step,
                                      workspace.data(),
                                      caches[run].data(),
                                      q.data(),
                                      384,
                                      nullptr,
                                      0,
                                      nullptr,
                                      0,
                                      out.data(),
                                      384};
    std::atomic<uint32_t> next{0};
    const auto work = [&] {
      FlushToZero worker_flush;
      Scratch scratch(plan.scratch_bytes);
      for (uint32_t task; (task = next++) < plan.tasks;)
        kPaged.table.run(self.get(), handle, &args, task, scratch.data());
    };
    std::thread other(work);
    work();
    other.join();
    results.push_back(out);
  }
  CHECK(workspace.intact());
  CHECK(same_bits(results[0], results[2]));
  CHECK(same_bits(results[1], results[3]));
  CHECK_FALSE(same_bits(results[0], results[1]));
  CHECK_FALSE(std::isnan(results[0][383]));
  kPaged.table.unbind(self.get(), handle);
}

TEST_CASE("attention paged cuts work evenly and within its bounds", "[attention]") {
  using namespace attention_paged;
  Random random(14);
  for (int round = 0; round < 200; ++round) {
    const auto kv_heads = 1 + random.below(4), group = 1 + random.below(20);
    FakeHost host;
    const Paged plugin(host.host(), {});
    const Layer layer(mortise::KvType::f16, layer_of(kv_heads * group, kv_heads, 32, 32), &plugin.kernels());
    std::vector<uint32_t> contexts(1 + random.below(20));
    for (uint32_t& n : contexts) n = 1 + random.below(8000);
    const DecodeStep decode(contexts, 500);
    const uint32_t workers = 1 + random.below(16);
    const auto& step = decode.step;
    Scratch memory(view(nullptr, layer, bounds(layer, step.rows, step.sequences, 8000, workers)).bytes);
    cut(layer, step, workers, memory.data());
    REQUIRE(memory.intact());
    const Workspace workspace = view(memory.data(), layer, static_cast<Header*>(memory.data())->bounds);
    const uint64_t tasks = workspace.header->tasks;
    uint64_t most = 0, total = 0, largest = 0;
    for (uint64_t t = 0; t < tasks; ++t) {
      uint64_t work = 0;
      for (uint32_t i = t == 0 ? 0 : workspace.task_ends[t - 1]; i < workspace.task_ends[t]; ++i) {
        const uint64_t stretches = workspace.units[i].stretch1 - workspace.units[i].stretch0;
        work += stretches;
        largest = std::max(largest, stretches);
      }
      REQUIRE(work > 0);
      most = std::max(most, work);
      total += work;
    }
    uint64_t expected = 0;
    for (const uint32_t n : contexts) expected += (n - 1) / kStretch + 1;
    CHECK(total == expected * kv_heads);
    CHECK(most <= total / tasks + largest + 1);
  }
}
