// Tests of matrices in the graph builder: slices, transposition, tables, experts. Thread rule:
// single-threaded. Flow: CTest -> GraphBuilder through its C table.
#include <catch2/catch.hpp>
#include <map>

#include "model/builder.h"

using namespace mortise;

namespace {

/// A builder over tensors of two formats, single numbers and blocks of 32.
struct Rig {
  struct Tensor {
    mortise_plane plane{sizeof(mortise_plane), 3, 1000, 0, "data", "block", {0, 0}};
    const mortise_plane* planes[1] = {&plane};
    mortise_tensor tensor{};
  };
  mortise_format singles{sizeof(mortise_format), 0, "single/1", 1, 2},
      blocks{sizeof(mortise_format), 0, "block/1", 32, 18};
  std::map<std::string, Tensor> tensors;
  std::unique_ptr<GraphBuilder> builder;

  Rig() {
    add("table", {10, 4}, "single/1");
    add("stored", {4, 6}, "single/1");
    add("experts", {3, 4, 6}, "single/1");
    add("packed", {3, 4, 32}, "block/1");
    add("deep", {2, 2, 2, 4}, "single/1");
    add("short", {3, 4}, "single/1");
    BuilderHooks hooks;
    hooks.tensor = [this](std::string_view name) {
      auto at = tensors.find(std::string(name));
      return at == tensors.end() ? nullptr : &at->second.tensor;
    };
    hooks.format = [this](const mortise_tensor& t) {
      return Result<const mortise_format*>(std::string_view(t.format) == "block/1" ? &blocks : &singles);
    };
    hooks.op = [](const mortise_op_desc& d) { return Result<BuilderHooks::Op>({0, 0, d.input_cols[0]}); };
    builder = std::make_unique<GraphBuilder>(std::move(hooks));
    const mortise_arch_info info{sizeof(info), 1, 4, 1, 1, 4, 10, 128, 0, 0, "f"};
    c().info(c().ctx, &info);
  }
  void add(const std::string& name, std::vector<uint64_t> shape, const char* format) {
    Tensor& t = tensors[name];
    t.plane.length = 2;
    for (uint64_t d : shape) t.plane.length *= d;
    t.tensor = {sizeof(mortise_tensor),
                static_cast<uint32_t>(shape.size()),
                str(tensors.find(name)->first),
                format,
                {},
                1,
                0,
                t.planes,
                nullptr};
    std::copy(shape.begin(), shape.end(), t.tensor.shape);
  }
  const mortise_builder& c() const { return builder->c(); }
  uint32_t matrix(const char* name, uint32_t flags = 0, uint64_t row0 = 0, uint64_t rows = 0,
                  uint64_t k = 0) {
    const mortise_matrix_source source{sizeof(source), flags, str(name), row0, rows, k};
    return c().matrix(c().ctx, &source);
  }
  uint32_t embedding() { return c().embed(c().ctx, matrix("table")); }
  /// The graph, ended with logits.
  Graph finish() {
    c().logits(c().ctx, c().linear(c().ctx, c().take_rows(c().ctx, embedding()), matrix("table"), 0));
    auto graph = builder->finish();
    INFO((graph ? "" : graph.error().text()));
    REQUIRE(graph);
    return std::move(*graph);
  }
  std::string error() {
    auto graph = builder->finish();
    return graph ? "" : graph.error().text();
  }
};

constexpr uint32_t kTransposed = MORTISE_MATRIX_TRANSPOSED;

}  // namespace

TEST_CASE("builder: a tensor of rank 3 is rows, slice after slice") {
  Rig rig;
  const uint32_t all = rig.matrix("packed"), second = rig.matrix("packed", 0, 4, 4, 32);
  CHECK(rig.matrix("packed", 0, 4, 4) == second);
  const Graph graph = rig.finish();
  CHECK(graph.matrices[all - 1].rows == 12);
  CHECK(graph.matrices[all - 1].k == 32);
  CHECK(graph.matrices[second - 1].row0 == 4);
  CHECK_FALSE(graph.matrices[second - 1].is_transposed);
}

TEST_CASE("builder: a transposed matrix has the swapped shape and names its slices' bytes") {
  Rig rig;
  const uint32_t whole = rig.matrix("stored", kTransposed, 0, 0, 4);
  CHECK(rig.matrix("stored", kTransposed) == whole);
  CHECK(rig.matrix("stored") != whole);
  const uint32_t third = rig.matrix("experts", kTransposed, 12, 6, 4),
                 part = rig.matrix("experts", kTransposed, 14, 2);
  const uint32_t two = rig.matrix("experts", kTransposed, 5, 2);
  const Graph graph = rig.finish();
  const Matrix& w = graph.matrices[whole - 1];
  CHECK((w.rows == 6 && w.k == 4 && w.is_transposed));
  CHECK((w.tensor->shape[0] == 6 && w.tensor->shape[1] == 4 && w.tensor->rank == 2));
  CHECK(std::string_view(w.tensor->format) == "single/1");
  CHECK((w.tensor->planes[0]->offset == 1000 && w.tensor->planes[0]->length == 48));
  const Matrix& t = graph.matrices[third - 1];
  CHECK((t.row0 == 0 && t.rows == 6 && t.tensor->shape[0] == 1 && t.tensor->shape[1] == 6));
  CHECK((t.tensor->planes[0]->offset == 1000 + 2 * 48 && t.tensor->planes[0]->length == 48));
  CHECK(graph.matrices[part - 1].tensor == t.tensor);
  CHECK(graph.matrices[part - 1].row0 == 2);
  const Matrix& both = graph.matrices[two - 1];
  CHECK((both.row0 == 5 && both.tensor->shape[0] == 2 && both.tensor->planes[0]->length == 96));
}

TEST_CASE("builder: a table by position bounds the context") {
  Rig rig;
  rig.c().embed_positions(rig.c().ctx, rig.matrix("short"));
  CHECK(rig.finish().positions == 3);
}

TEST_CASE("builder: experts take a row whole or a part of it each") {
  Rig rig;
  const auto& b = rig.c();
  const uint32_t routing = rig.embedding(), x = rig.embedding();
  uint32_t experts[3];
  for (uint32_t e = 0; e < 3; ++e) experts[e] = rig.matrix("experts", kTransposed, e * 6, 6);
  const std::vector<float> bias(18);
  const uint32_t y = b.moe_linear(b.ctx, x, routing, 3, experts, b.constant(b.ctx, bias.data(), 18));
  const uint32_t more[3] = {experts[2], experts[1], experts[0]};
  uint32_t back[3];
  for (uint32_t e = 0; e < 3; ++e) back[e] = rig.matrix("experts", 0, e * 4, 4);
  const uint32_t z = b.moe_linear(b.ctx, y, routing, 3, back, 0);
  CHECK(b.moe_linear(b.ctx, x, routing, 3, more, 0) != 0);
  const Graph graph = rig.finish();
  CHECK(graph.nodes[y - 1].cols == 12);
  CHECK(graph.nodes[z - 1].cols == 8);
  CHECK(graph.matrices[graph.nodes[y - 1].experts[0]].has_bias);
}

TEST_CASE("builder: wrong uses of matrices are one error that names what is wrong") {
  Rig rig;
  const auto& b = rig.c();
  uint32_t experts[3] = {rig.matrix("experts", 0, 0, 4), rig.matrix("experts", 0, 4, 4),
                         rig.matrix("experts", 0, 8, 4)};
  uint32_t transposed[3];
  for (uint32_t e = 0; e < 3; ++e) transposed[e] = rig.matrix("experts", kTransposed, e * 6, 6);
  const uint32_t x = rig.embedding();
  std::string want;
  SECTION("four dimensions") {
    rig.matrix("deep");
    want = "deep: has 4 dimensions instead of 1 to 3";
  }
  SECTION("blocks cannot be transposed") {
    rig.matrix("packed", kTransposed);
    want = "packed: is stored as block/1, in blocks of several elements, and transposed";
  }
  SECTION("rows behind the end, transposed") {
    rig.matrix("stored", kTransposed, 4, 3);
    want = "has 6 rows of 4 columns, transposed; needed are rows 4 to 7";
  }
  SECTION("a transposed table") {
    b.embed(b.ctx, rig.matrix("stored", kTransposed));
    want = "stored: is a table of embeddings and cannot be read transposed";
  }
  SECTION("no experts") {
    b.moe_linear(b.ctx, x, x, 0, experts, 0);
    want = "a mixture of 0 experts";
  }
  SECTION("more experts for a row than there are") {
    b.moe_linear(b.ctx, x, x, 1, transposed, 0);
    want = "a mixture of 1 experts with a routing of 4 columns";
  }
  SECTION("experts of several shapes") {
    transposed[1] = experts[1];
    b.moe_linear(b.ctx, x, x, 3, transposed, 0);
    want = "experts: an expert has another shape than the others";
  }
  SECTION("an input of another width") {
    b.moe_linear(b.ctx, x, x, 3, experts, 0);
    want = "the input of experts has 4 columns instead of 6";
  }
  SECTION("a bias of another length") {
    const float bias[6] = {};
    b.moe_linear(b.ctx, x, x, 3, transposed, b.constant(b.ctx, bias, 6));
    want = "experts: its bias has another number of elements";
  }
  SECTION("an expert that is no matrix") {
    experts[2] = 77;
    b.moe_linear(b.ctx, x, x, 3, experts, 0);
    want = "the weight of an expert is no matrix of this graph";
  }
  const std::string got = rig.error();
  CAPTURE(got);
  CHECK(got.find(want) != std::string::npos);
}
