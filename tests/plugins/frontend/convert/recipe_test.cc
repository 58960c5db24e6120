// Recipes over a model of one tensor whose element [r][c] is 100 r + c. Thread rule: none. Flow: the plan's
// pieces alone; whole conversions are the Python tests'.
#include "recipe.h"

#include <catch2/catch.hpp>

#include "awq.h"
#include "calibrate.h"
#include "target.h"

using namespace mortise;
using namespace mortise::convert;

namespace {

mortise_tensor tensor(uint32_t rank, std::initializer_list<uint64_t> shape) {
  mortise_tensor out{};
  out.size = sizeof(out);
  out.rank = rank;
  std::copy(shape.begin(), shape.end(), out.shape);
  return out;
}

mortise_model_service numbers() {
  mortise_model_service out{};
  out.read_rows = [](void*, const mortise_tensor* from, uint64_t row0, uint64_t rows, float* to,
                     mortise_error*) -> mortise_status {
    const uint64_t k = from->shape[from->rank - 1];
    for (uint64_t r = 0; r < rows; ++r)
      for (uint64_t c = 0; c < k; ++c) to[r * k + c] = static_cast<float>(100 * (row0 + r) + c);
    return MORTISE_OK;
  };
  return out;
}

std::vector<float> read(const Recipe& recipe, uint64_t row0, uint64_t rows,
                        const std::vector<float>& slice = {}) {
  std::vector<float> out(rows * recipe.columns());
  REQUIRE(read_rows(numbers(), recipe, row0, rows, slice, out.data()));
  return out;
}

Recipe recipe_of(const mortise_tensor& from, std::vector<uint64_t> shape) {
  Recipe out;
  out.shape = std::move(shape);
  out.parts = {&from};
  return out;
}

void run_now(void*, uint32_t tasks, mortise_task* run, void* arg) {
  for (uint32_t i = 0; i < tasks; ++i) run(arg, i, 0);
}

}  // namespace

TEST_CASE("rows of several parts follow each other") {
  const mortise_tensor a = tensor(2, {2, 3}), b = tensor(2, {4, 3});
  Recipe recipe = recipe_of(a, {6, 3});
  recipe.parts = {&a, &b};
  CHECK(read(recipe, 1, 3) == std::vector<float>{100, 101, 102, 0, 1, 2, 100, 101, 102});
}

TEST_CASE("heads change their order and change it back") {
  const mortise_tensor from = tensor(2, {12, 1});
  Recipe recipe = recipe_of(from, {12, 1});
  recipe.head_rows = 6;
  recipe.head_order = HeadOrder::to_interleaved;
  CHECK(read(recipe, 0, 7) == std::vector<float>{0, 300, 100, 400, 200, 500, 600});
  CHECK(read(recipe, 7, 2) == std::vector<float>{900, 700});
  recipe.head_order = HeadOrder::to_halves;
  CHECK(read(recipe, 0, 6) == std::vector<float>{0, 200, 400, 100, 300, 500});
}

TEST_CASE("every second row of each slice, from an offset") {
  const mortise_tensor from = tensor(3, {2, 4, 1});
  Recipe recipe = recipe_of(from, {2, 2, 1});
  recipe.source_rows = 4;
  recipe.row_stride = 2;
  recipe.row_offset = 1;
  CHECK(read(recipe, 0, 4) == std::vector<float>{100, 300, 500, 700});
  CHECK(read(recipe, 1, 2) == std::vector<float>{300, 500});
}

TEST_CASE("a transposed slice, whole or every second column of it") {
  const mortise_tensor from = tensor(3, {2, 3, 4});  // of each slice: columns become rows
  Recipe recipe = recipe_of(from, {2, 4, 3});
  recipe.is_transposed = true;
  auto slice = load_slice(numbers(), recipe, 1);
  REQUIRE(slice);
  CHECK(read(recipe, 5, 1, *slice) == std::vector<float>{301, 401, 501});
  recipe.source_rows = 4;
  recipe.shape[1] = 2;
  recipe.row_stride = 2;
  recipe.row_offset = 1;
  slice = load_slice(numbers(), recipe, 1);
  REQUIRE(slice);
  CHECK(read(recipe, 3, 1, *slice) == std::vector<float>{303, 403, 503});
}

TEST_CASE("values are shifted, scaled and shifted back") {
  const mortise_tensor from = tensor(2, {2, 2});
  Recipe recipe = recipe_of(from, {2, 2});
  recipe.add = 1;
  recipe.column_scale = {2, 3};
  recipe.row_scale = {1, 0.5f};
  recipe.add_last = -1;
  CHECK(read(recipe, 0, 2) == std::vector<float>{1, 5, 100, 152});
}

TEST_CASE("the first block that divides a row gives the format") {
  const auto format = [](const char* target, Role role, uint64_t rows, uint64_t columns) {
    return std::string(format_of(*find_target(target), role, rows, columns, 64));
  };
  CHECK(format("gguf-q4_k", Role::matrix, 8, 512) == "gguf.q4_k/1");
  CHECK(format("gguf-q4_k", Role::matrix, 8, 576) == "gguf.q5_0/1");
  CHECK(format("gguf-q4_k", Role::matrix, 8, 72) == "gguf.f16/1");
  CHECK(format("gguf-q4_k", Role::table, 8, 512) == "gguf.q6_k/1");
  CHECK(format("gguf-q4_k", Role::table, 8, 576) == "gguf.q8_0/1");
  CHECK(format("gguf-q4_k", Role::vector, 1, 512) == "gguf.f32/1");
  CHECK(format("awq", Role::matrix, 16, 576) == "awq.gemm/1");
  CHECK(format("awq", Role::matrix, 12, 576) == "safetensors.f16/1");
  CHECK(format("awq", Role::matrix, 16, 72) == "safetensors.f16/1");
  CHECK(find_target("gguf-q3") == nullptr);
}

TEST_CASE("columns that carry much get finer steps, and equal ones none") {
  mortise_host table{};
  table.parallel = run_now;
  Sample sample{32, 64, {}};
  for (size_t i = 0; i < 32 * 64; ++i) sample.values.push_back(static_cast<float>((i * 7919) % 101) / 50 - 1);
  ColumnStatistics even{std::vector<double>(64, 0.5), std::vector<double>(64, 0.3)};
  for (const float scale : search_scales(Host(&table), {sample}, even, 32)) CHECK(scale == Approx(1));
  ColumnStatistics skewed = even;
  skewed.mean_abs[3] = 50;
  skewed.mean_square[3] = 3000;
  const std::vector<float> scales = search_scales(Host(&table), {sample}, skewed, 32);
  CHECK(scales[3] > 1.5f * scales[4]);
}

namespace {

/// A layer's tensors as recipes, [64][64] or norms of 64, scaled by what passes its column 3.
std::vector<Recipe> folded(const std::vector<std::string>& names) {
  static const mortise_tensor matrix = tensor(2, {64, 64}), norm = tensor(1, {64}),
                              stack = tensor(3, {2, 64, 64});
  std::vector<Recipe> out;
  for (const std::string& name : names) {
    const bool is_norm = name.find("norm") != std::string::npos,
               is_stack = name.find(".experts.") != std::string::npos;
    const mortise_tensor& from = is_norm ? norm : is_stack ? stack : matrix;
    Recipe recipe = recipe_of(from, {from.shape, from.shape + from.rank});
    recipe.name = "model.layers.0." + name;
    recipe.format = is_norm || is_stack ? "safetensors.f16/1" : "awq.gemm/1";
    out.push_back(recipe);
  }
  mortise_host table{};
  table.parallel = run_now;
  ColumnStatistics skewed{std::vector<double>(64, 0.5), std::vector<double>(64, 0.3)};
  skewed.mean_abs[3] = 50;
  skewed.mean_square[3] = 3000;
  const auto of = [&](std::string_view, uint64_t, uint64_t) { return std::optional(skewed); };
  REQUIRE(fold_scales(Host(&table), numbers(), 32, false, of, &out));
  return out;
}

}  // namespace

TEST_CASE("all that reads a norm is scaled with it, or none is") {
  const auto usual = folded({"input_layernorm.weight", "self_attn.q_proj.weight",
                             "post_attention_layernorm.weight", "mlp.gate_proj.weight"});
  CHECK(usual[0].column_scale.at(3) == Approx(1 / usual[1].column_scale.at(3)));
  CHECK(usual[2].column_scale.at(3) == Approx(1 / usual[3].column_scale.at(3)));
  const auto parallel = folded({"input_layernorm.weight", "self_attn.q_proj.weight", "mlp.gate_proj.weight"});
  CHECK(parallel[0].column_scale.at(3) == Approx(1 / parallel[1].column_scale.at(3)));
  CHECK(parallel[2].column_scale == parallel[1].column_scale);
  const auto stacked =
      folded({"input_layernorm.weight", "self_attn.q_proj.weight", "post_attention_layernorm.weight",
              "mlp.experts.gate_up_proj", "mlp.shared_expert.gate_proj.weight"});
  CHECK_FALSE(stacked[0].column_scale.empty());
  for (size_t i : {2, 3, 4}) CHECK(stacked[i].column_scale.empty());
}
