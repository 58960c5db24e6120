// Tests of the graph builder: what an arch plugin may do wrong is one error, the first. Thread rule:
// single-threaded. Flow: CTest -> GraphBuilder through its C table.
#include "model/builder.h"

#include <catch2/catch.hpp>
#include <map>

using namespace mortise;

namespace {

/// A builder over a few tensors, by name and shape.
struct Rig {
  std::map<std::string, mortise_tensor> tensors;
  mortise_format format{sizeof(mortise_format), 0, "single/1", 1, 4, nullptr, nullptr};
  std::unique_ptr<GraphBuilder> builder;

  Rig() {
    add("table", {10, 4});
    add("w", {6, 4});
    add("head", {10, 6});
    add("bias", {6});
    add("short", {9, 4});
    add("wide", {10, 4});
    BuilderHooks hooks;
    hooks.tensor = [this](std::string_view name) {
      auto at = tensors.find(std::string(name));
      return at == tensors.end() ? nullptr : &at->second;
    };
    hooks.format = [this](const mortise_tensor&) { return Result<const mortise_format*>(&format); };
    hooks.values = [](const mortise_tensor& t) {
      return Result<std::vector<float>>(std::vector<float>(t.shape[0]));
    };
    hooks.op = [](const mortise_op_desc& d) -> Result<BuilderHooks::Op> {
      if (std::string_view(d.op) == "none/1") return fail(Code::bad_argument, "pin", "nothing offers none/1");
      return BuilderHooks::Op{0, 0, d.input_cols[0]};
    };
    builder = std::make_unique<GraphBuilder>(std::move(hooks));
    const mortise_arch_info info{sizeof(info), 1, 4, 1, 1, 4, 10, 128, 0, 0, "f"};
    c().info(c().ctx, &info);
  }
  void add(const std::string& name, std::vector<uint64_t> shape) {
    mortise_tensor t{sizeof(mortise_tensor), static_cast<uint32_t>(shape.size())};
    std::copy(shape.begin(), shape.end(), t.shape);
    auto& kept = tensors[name] = t;
    kept.name = str(tensors.find(name)->first);
  }
  const mortise_builder& c() const { return builder->c(); }
  uint32_t matrix(const char* name, uint64_t row0 = 0, uint64_t rows = 0, uint64_t k = 0) {
    const mortise_matrix_source source{sizeof(source), 0, str(name), row0, rows, k};
    return c().matrix(c().ctx, &source);
  }
  std::string error() {
    auto graph = builder->finish();
    return graph ? "" : graph.error().text();
  }
};

}  // namespace

TEST_CASE("builder: a small graph keeps its nodes, weights and flags") {
  Rig rig;
  const auto& b = rig.c();
  const uint32_t table = rig.matrix("table"), w = rig.matrix("w");
  CHECK(rig.matrix("w") == w);
  const uint32_t x = b.take_rows(b.ctx, b.embed(b.ctx, table));
  const uint32_t y = b.linear(b.ctx, x, w, b.vector(b.ctx, str("bias"), 6, 1));
  b.logits(b.ctx, b.linear(b.ctx, y, rig.matrix("head"), 0));
  auto graph = rig.builder->finish();
  REQUIRE(graph);
  CHECK(graph->nodes.size() == 4);
  CHECK(graph->matrices[0].is_table);
  CHECK_FALSE(graph->matrices[0].is_weight);
  CHECK(graph->matrices[1].has_bias);
  CHECK(graph->nodes[3].wanted);
  CHECK(graph->logits == 3);
}

TEST_CASE("builder: wrong use is one error that names what is wrong") {
  Rig rig;
  const auto& b = rig.c();
  SECTION("a missing tensor") {
    rig.matrix("nope");
    CHECK(rig.error().find("nope: the model has no such tensor") != std::string::npos);
  }
  SECTION("columns that do not fit") {
    b.linear(b.ctx, b.embed(b.ctx, rig.matrix("table")), rig.matrix("head"), 0);
    CHECK(rig.error().find("4 columns instead of 6") != std::string::npos);
  }
  SECTION("rows behind the end") {
    rig.matrix("w", 4, 3, 4);
    CHECK(rig.error().find("w: has 6 rows of 4 columns; needed are rows 4 to 7") != std::string::npos);
  }
  SECTION("rows that wrap around") {
    rig.matrix("w", 2, UINT64_MAX, 4);
    CHECK(rig.error().find("w: has 6 rows") != std::string::npos);
  }
  SECTION("a bias of another length") {
    b.linear(b.ctx, b.embed(b.ctx, rig.matrix("table")), rig.matrix("w"), b.vector(b.ctx, str("bias"), 5, 1));
    CHECK(rig.error().find("bias: has 6 elements instead of 5") != std::string::npos);
  }
  SECTION("heads that KV heads do not divide") {
    const mortise_kv_group group{sizeof(group), 2, 2, 2, 0, 0};
    const mortise_attention_layer layer{sizeof(layer), 3, 2, 2, 2, 0, 0, 1, 0, nullptr};
    const uint32_t slot = b.kv_slot(b.ctx, b.kv_group(b.ctx, &group));
    b.attention(b.ctx, slot, &layer, 1, 1, 1);
    CHECK(rig.error().find("must be a multiple") != std::string::npos);
  }
  SECTION("an operation that nothing offers") {
    const uint32_t x = b.embed(b.ctx, rig.matrix("table"));
    const mortise_op_use use{sizeof(use), 1, 0, 0, "none/1", &x, nullptr, nullptr};
    b.op(b.ctx, &use);
    CHECK(rig.error().find("nothing offers none/1") != std::string::npos);
  }
  SECTION("a node that is none") {
    b.take_rows(b.ctx, 7);
    CHECK(rig.error().find("no node of this graph") != std::string::npos);
  }
  SECTION("a linear group of nothing, or of too much") {
    uint32_t out[1] = {};
    b.linear_group(b.ctx, b.embed(b.ctx, rig.matrix("table")), UINT32_MAX, out, nullptr, out);
    CHECK(rig.error().find("a linear group of 4294967295 weights") != std::string::npos);
  }
  SECTION("no logits") {
    b.embed(b.ctx, rig.matrix("table"));
    CHECK(rig.error().find("without logits") != std::string::npos);
  }
  SECTION("logits of another vocabulary") {
    b.logits(b.ctx, b.take_rows(b.ctx, b.embed(b.ctx, rig.matrix("table"))));
    CHECK(rig.error().find("logits of 4 columns for a vocabulary of 10") != std::string::npos);
  }
  SECTION("an embedding table that is shorter than the vocabulary") {
    b.logits(b.ctx,
             b.linear(b.ctx, b.take_rows(b.ctx, b.embed(b.ctx, rig.matrix("short"))), rig.matrix("wide"), 0));
    CHECK(rig.error().find("short: has 9 rows for a vocabulary of 10") != std::string::npos);
  }
  SECTION("a value of all rows behind take_rows") {
    const uint32_t x = b.embed(b.ctx, rig.matrix("table"));
    b.take_rows(b.ctx, x);
    CHECK(b.linear(b.ctx, x, rig.matrix("w"), 0) == 0);
    CHECK(rig.error().find("behind take_rows") != std::string::npos);
  }
  SECTION("the plugin's own failure") {
    b.fail(b.ctx, MORTISE_UNSUPPORTED, str("key"), str("is odd"));
    CHECK(b.embed(b.ctx, rig.matrix("table")) == 0);
    CHECK(rig.error() == "key: is odd");
  }
}

TEST_CASE("builder: a layer may not see more than its KV group keeps") {
  Rig rig;
  const auto& b = rig.c();
  const mortise_kv_group group{sizeof(group), 2, 2, 2, 16, 0};
  const uint32_t slot = b.kv_slot(b.ctx, b.kv_group(b.ctx, &group));
  const uint32_t x = b.embed(b.ctx, rig.matrix("table"));
  mortise_attention_layer layer{sizeof(layer), 2, 2, 2, 2, 16, MORTISE_ATTENTION_WINDOW, 1, 0, nullptr};
  CHECK(b.attention(b.ctx, slot, &layer, x, x, x) != 0);
  layer.window = GENERATE(0u, 17u);
  CHECK(b.attention(b.ctx, slot, &layer, x, x, x) == 0);
  CHECK(rig.error().find("more than the window of its KV group") != std::string::npos);
}
