// Tests of whole graphs: experts, transposed weights, tables by position, lengths, against plain double.
// Thread rule: single-threaded, but for the pool. Flow: CTest -> GraphBuilder, Weights, Program.
#include "program_rig.h"

using namespace mortise_test;

namespace {

constexpr uint64_t kVocab = 11, kHidden = 6, kExperts = 5, kInner = 7, kTopK = 2, kPositions = 20;

mortise_attr text(const char* name, const char* value) {
  return {name, MORTISE_STRING, 0, 0, 0, value, nullptr};
}
mortise_attr whole(const char* name, int64_t value) {
  return {name, MORTISE_INT, 0, value, 0, nullptr, nullptr};
}
mortise_attr list(const char* name, const std::vector<double>& values) {
  return {name, MORTISE_LIST, static_cast<uint32_t>(values.size()), 0, 0, nullptr, values.data()};
}

uint32_t op(const mortise_builder& b, const char* id, const std::vector<uint32_t>& inputs,
            const std::vector<mortise_attr>& attrs = {}) {
  const mortise_op_use use{sizeof(use), static_cast<uint32_t>(inputs.size()),
                           0,           static_cast<uint32_t>(attrs.size()),
                           id,          inputs.data(),
                           nullptr,     attrs.data()};
  return b.op(b.ctx, &use);
}

uint32_t matrix(const mortise_builder& b, const char* name, uint64_t row0 = 0, uint64_t rows = 0,
                uint32_t flags = 0) {
  const mortise_matrix_source source{sizeof(source), flags, str(name), row0, rows, 0};
  return b.matrix(b.ctx, &source);
}

void info(const mortise_builder& b) {
  const mortise_arch_info value{sizeof(value), 1, kHidden, 1, 1, 1, kVocab, kPositions, 0, 0, "test"};
  b.info(b.ctx, &value);
}

/// A layer of experts over embeddings of tokens and positions; `up` in slices, `down` stored transposed.
struct Mixture : ModelRig {
  const std::vector<float>&table, &positions, &gate, &up, &bias, &down, &head;

  explicit Mixture(bool tiles, uint32_t rows)
      : table(add("table", {kVocab, kHidden})),
        positions(add("positions", {kPositions, kHidden})),
        gate(add("gate", {kExperts, kHidden})),
        up(add("up", {kExperts, kInner, kHidden})),
        bias(add("bias", {kExperts * kInner})),
        down(add("down", {kExperts, kInner, kHidden})),
        head(add("head", {kVocab, kHidden})) {
    const auto build = [](const mortise_builder& b) {
      info(b);
      const uint32_t x =
          op(b, "mortise.add/1",
             {b.embed(b.ctx, matrix(b, "table")), b.embed_positions(b.ctx, matrix(b, "positions"))});
      const uint32_t routing =
          op(b, "mortise.router/1", {b.linear(b.ctx, x, matrix(b, "gate"), 0)},
             {whole("top_k", kTopK), text("softmax", "before"), whole("renormalize", 1)});
      std::vector<uint32_t> ups, downs;
      for (uint64_t e = 0; e < kExperts; ++e) {
        ups.push_back(matrix(b, "up", e * kInner, kInner));
        downs.push_back(matrix(b, "down", e * kHidden, kHidden, MORTISE_MATRIX_TRANSPOSED));
      }
      uint32_t y = b.moe_linear(b.ctx, x, routing, kExperts, ups.data(),
                                b.vector(b.ctx, str("bias"), kExperts * kInner, 1));
      y = b.moe_linear(b.ctx, y, routing, kExperts, downs.data(), 0);
      y = op(b, "mortise.add/1", {x, op(b, "mortise.moe_combine/1", {y, routing})});
      b.logits(b.ctx, b.linear(b.ctx, b.take_rows(b.ctx, y), matrix(b, "head"), 0));
    };
    emit(build, {rows, 3, rows, kPositions}, tiles);
  }

  std::vector<double> exact(uint32_t token, int32_t position) const {
    std::vector<double> x(kHidden), logits(kExperts), out = x;
    for (uint64_t i = 0; i < kHidden; ++i)
      x[i] = double(table[token * kHidden + i]) + positions[position * kHidden + i];
    for (uint64_t e = 0; e < kExperts; ++e)
      for (uint64_t i = 0; i < kHidden; ++i) logits[e] += gate[e * kHidden + i] * x[i];
    std::vector<uint64_t> order(kExperts);
    for (uint64_t e = 0; e < kExperts; ++e) order[e] = e;
    std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) { return logits[a] > logits[b]; });
    double sum = 0;
    for (uint64_t c = 0; c < kTopK; ++c) sum += std::exp(logits[order[c]]);
    out = x;
    for (uint64_t c = 0; c < kTopK; ++c) {
      const uint64_t e = order[c];
      for (uint64_t j = 0; j < kInner; ++j) {
        double inner = bias[e * kInner + j];
        for (uint64_t i = 0; i < kHidden; ++i) inner += up[(e * kInner + j) * kHidden + i] * x[i];
        for (uint64_t i = 0; i < kHidden; ++i)
          out[i] += std::exp(logits[e]) / sum * inner * down[(e * kInner + j) * kHidden + i];
      }
    }
    std::vector<double> result(kVocab);
    for (uint64_t v = 0; v < kVocab; ++v)
      for (uint64_t i = 0; i < kHidden; ++i) result[v] += head[v * kHidden + i] * out[i];
    return result;
  }
};

}  // namespace

TEST_CASE("program: experts agree with plain double, alone and in a batch to the bit") {
  INFO("MORTISE_SEED=" << seed());
  const bool tiles = GENERATE(false, true);
  CAPTURE(tiles);
  Mixture rig(tiles, 13);
  const std::vector<uint32_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9};
  std::vector<int32_t> positions;
  for (int32_t i = 0; i < 13; ++i) positions.push_back(19 - i);
  const std::vector<uint32_t> lengths(13, 20);
  const auto all = rig.run(tokens, positions, lengths);
  for (size_t row = 0; row < tokens.size(); ++row) {
    const auto want = rig.exact(tokens[row], positions[row]);
    for (uint64_t v = 0; v < kVocab; ++v)
      CHECK(std::fabs(all[row * kVocab + v] - want[v]) < 1e-3 * (1 + std::fabs(want[v])));
    const auto begin = all.begin() + static_cast<ptrdiff_t>(row * kVocab);
    CHECK(same_bits(rig.run({tokens[row]}, {positions[row]}, {20}), {begin, begin + kVocab}));
  }
  CHECK(rig.program->memory().workspace_bytes > 13 * kTopK * (kHidden + kInner) * sizeof(float));
}

TEST_CASE("program: a row of NaN harms no other, whatever its routing says") {
  Mixture rig(false, 4);
  const auto clean = rig.run({1, 2, 3}, {0, 1, 2}, {9, 9, 9});
  const_cast<float&>(*static_cast<const float*>(rig.weights->list()[0].planes[0])) = NAN;  // of token 0
  const auto mixed = rig.run({1, 0, 2, 3}, {0, 5, 1, 2}, {9, 9, 9, 9});
  CHECK(std::isnan(mixed[kVocab]));
  const auto at = [&](size_t row) { return mixed.begin() + static_cast<ptrdiff_t>(row * kVocab); };
  std::vector<float> others(at(0), at(1));
  others.insert(others.end(), at(2), at(4));
  CHECK(same_bits(others, clean));
}

TEST_CASE("program: sums of activations tell the experts of a stack apart, transposed or not") {
  INFO("MORTISE_SEED=" << seed());
  Mixture rig(false, 4);
  ActivationSums& sums = rig.program->activation_sums();
  sums.collect(true);
  rig.run({1, 2, 3, 4}, {0, 1, 2, 3}, {9, 9, 9, 9});
  uint64_t routes = 0;
  for (uint64_t e = 0; e < kExperts; ++e) {
    const auto up = sums.read("up", e, kHidden, nullptr, nullptr);
    const auto down = sums.read("down", e, kInner, nullptr, nullptr);
    REQUIRE(up);
    REQUIRE(down);
    CHECK(*up == *down);
    routes += *down;
  }
  CHECK(routes == 4 * kTopK);
  CHECK_FALSE(sums.read("down", kExperts, kInner, nullptr, nullptr));
}

TEST_CASE("program: packing lets all pages of packed weights go, and keeps tables") {
  Mixture rig(false, 2);
  const auto& released = rig.file.released;
  const size_t tables = (kVocab + kPositions) * kHidden * sizeof(float);
  CHECK(static_cast<size_t>(std::count(released.begin(), released.end(), true)) ==
        released.size() - tables - kExperts * kInner * sizeof(float));
}

TEST_CASE("program: operations learn the length that a row was admitted for") {
  ModelRig rig;
  rig.add("table", {kVocab, kHidden});
  rig.add("head", {kVocab, kVocab});
  const std::vector<double> near(kHidden / 2, 0.1), far(kHidden / 2, 0.01);
  const auto rope = [&](const mortise_builder& b, uint32_t x) {
    const uint32_t table =
        op(b, "mortise.rope_table/1", {},
           {list("inverse_frequencies", near), list("long_inverse_frequencies", far), whole("long_from", 8)});
    return op(b, "mortise.rope/1", {x, table},
              {whole("head_dim", kHidden), whole("dims", kHidden), whole("interleaved", 0)});
  };
  rig.emit(
      [&](const mortise_builder& b) {
        info(b);
        const uint32_t x = rope(b, b.embed(b.ctx, matrix(b, "table")));
        b.logits(b.ctx, b.linear(b.ctx, b.take_rows(b.ctx, x), matrix(b, "table"), 0));
      },
      {5, 2, 5, 20}, false);
  const auto mixed = rig.run({1, 1, 1, 1}, {6, 6, 6, 6}, {8, 9, 8, 20});
  const auto row = [&](size_t i) {
    const auto at = mixed.begin() + static_cast<ptrdiff_t>(i * kVocab);
    return std::vector<float>(at, at + kVocab);
  };
  CHECK(same_bits(row(0), row(2)));
  CHECK(same_bits(row(1), row(3)));
  CHECK_FALSE(same_bits(row(0), row(1)));
}
