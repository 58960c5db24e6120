// What every attention plugin must do, by its table: float64, batches, chunks, layouts, faults.
// Thread rule: test threads only. Flow: each plugin's test program calls these with its own instances.
#pragma once
#include <mortise/cpp/half.h>

#include <functional>

#include "plugins/attention/attention_test.h"

namespace mortise_test {

/// A plugin under test; `make(denied)` is an instance on a processor without those features.
struct Subject {
  const mortise_attention& table;
  std::function<std::shared_ptr<void>(const std::set<std::string>&)> make;
};

inline mortise_attention_layer layer_of(uint32_t heads, uint32_t kv_heads, uint32_t k_dim, uint32_t v_dim) {
  mortise_attention_layer layer{};
  layer.size = sizeof(layer);
  layer.heads = heads;
  layer.kv_heads = kv_heads;
  layer.k_dim = k_dim;
  layer.v_dim = v_dim;
  layer.scale = 1.0f / std::sqrt(static_cast<float>(k_dim));
  return layer;
}

/// Largest |out - exact| / (sum of p |v|) of a sequence over some positions; exact from what the cache holds.
inline double attention_error(const Cache& cache, const mortise_attention_layer& l, const Tokens& t,
                              uint32_t sequence, const std::vector<float>& out) {
  std::vector<std::vector<float>> k(t.length), v(t.length);
  for (uint32_t j = 0; j < t.length; ++j) cache.read(sequence, j, &k[j], &v[j]);
  double worst = 0;
  const uint32_t stride = t.length < 64 ? 1 : 7;
  for (uint32_t i = (t.length - 1) % stride; i < t.length; i += stride)
    for (uint32_t h = 0; h < l.heads; ++h) {
      const uint32_t kv = h / (l.heads / l.kv_heads);
      const uint32_t first = l.window == 0 || i < l.window ? 0 : i - l.window + 1;
      std::vector<double> p;
      for (uint32_t j = first; j <= i; ++j) {
        double s = 0;
        for (uint32_t d = 0; d < l.k_dim; ++d)
          s += static_cast<double>(t.q[(size_t{i} * l.heads + h) * l.k_dim + d]) * k[j][kv * l.k_dim + d];
        s *= l.scale;
        p.push_back(l.softcap == 0 ? s : l.softcap * std::tanh(s / l.softcap));
      }
      double top = *std::max_element(p.begin(), p.end()), sum = 0;
      if (l.sinks != nullptr) sum = std::exp(l.sinks[h] - top);
      for (double& x : p) sum += x = std::exp(x - top);
      for (uint32_t d = 0; d < l.v_dim; ++d) {
        double exact = 0, size = 1e-30;
        for (uint32_t j = first; j <= i; ++j) {
          const double term = p[j - first] / sum * v[j][kv * l.v_dim + d];
          exact += term;
          size += std::fabs(term);
        }
        const double off = std::fabs(out[(size_t{i} * l.heads + h) * l.v_dim + d] - exact) / size;
        worst = off <= worst ? worst : std::isnan(off) ? INFINITY : off;
      }
    }
  return worst;
}

constexpr double kAttentionError = 3e-6;

/// A layer's results for two sequences: right, and the same bits however the steps are cut and on every
/// build.
inline void check_layer_everywhere(const Subject& subject, uint32_t layout,
                                   const mortise_attention_layer& layer, uint32_t length, Random& random) {
  CAPTURE(layout, layer.heads, layer.kv_heads, layer.k_dim, layer.v_dim, layer.window, length);
  const Tokens a(random, layer, length), b(random, layer, length / 2 + 1);
  const auto all_builds = isa_builds();
  const auto self = subject.make(all_builds[0]);
  Cache whole(subject.table, self.get(), layout, layer, {&a, &b}, random);
  whole.step({{0, 0, a.length}}, 1);
  whole.step({{1, 0, b.length}}, 2);
  CHECK(attention_error(whole, layer, a, 0, whole.out(0)) < kAttentionError);
  for (const auto& denied : all_builds) {
    const auto other = subject.make(denied);
    Cache cut(subject.table, other.get(), layout, layer, {&a, &b}, random);
    // Chunks of odd sizes, the other sequence in the same steps, and the last rows one by one.
    uint32_t at = 0, at_b = 0;
    while (at < a.length || at_b < b.length) {
      const uint32_t left = a.length - at, left_b = b.length - at_b;
      const uint32_t count = left <= 3 ? std::min(left, 1u) : 1 + random.below(left - 2);
      const uint32_t count_b = std::min(left_b, 1 + random.below(29));
      std::vector<Piece> pieces;
      if (count_b != 0) pieces.push_back({1, at_b, count_b});
      if (count != 0) pieces.push_back({0, at, count});
      cut.step(pieces, 1 + random.below(4), random.below(3));
      at += count;
      at_b += count_b;
    }
    CHECK(same_bits(cut.out(0), whole.out(0)));
    CHECK(same_bits(cut.out(1), whole.out(1)));
  }
}

inline void check_shapes(const Subject& subject) {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  struct Shape {
    uint32_t heads, kv_heads, k_dim, v_dim, length;
  };
  const std::vector<Shape> shapes = {{1, 1, 12, 12, 1},     {3, 1, 24, 24, 15},  {4, 4, 64, 64, 16},
                                     {9, 3, 64, 64, 17},    {6, 3, 12, 20, 33},  {4, 1, 80, 80, 255},
                                     {2, 2, 128, 128, 256}, {9, 3, 64, 64, 257}, {3, 1, 16, 5, 530},
                                     {16, 2, 40, 33, 600}};
  for (const Shape& s : shapes)
    for (uint32_t layout = 0; layout < 3; ++layout) {
      Random random(s.length * 10 + layout);
      check_layer_everywhere(subject, layout, layer_of(s.heads, s.kv_heads, s.k_dim, s.v_dim), s.length,
                             random);
    }
}

inline void check_features(const Subject& subject) {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  Random random(77);
  const std::vector<float> sinks = random.normals(6, 2);
  for (const uint32_t window : {0, 1, 15, 16, 17, 100, 300})
    for (const float softcap : {0.0f, 1.5f})
      for (const float* sink : {static_cast<const float*>(nullptr), sinks.data()}) {
        auto layer = layer_of(6, 2, 24, 24);
        layer.window = window;
        layer.softcap = softcap;
        layer.sinks = sink;
        check_layer_everywhere(subject, 1, layer, 330, random);
      }
}

/// Stored values: rounded to nearest even, NaN kept, the bytes of a token its own, memcpy enough to move.
inline void check_layouts(const Subject& subject) {
  FlushToZero flush;
  const auto layer = layer_of(2, 2, 20, 9);
  for (uint32_t layout = 0; layout < 3; ++layout) {
    Random random(layout);
    Tokens t(random, layer, 40);
    const std::vector<float> special = {NAN,   INFINITY, -INFINITY, 65504, 65519.9f,
                                        65520, 1e-7f,    -0.0f,     3e-5f};
    std::copy(special.begin(), special.end(), t.k.begin());
    const auto self = subject.make({});
    Cache cache(subject.table, self.get(), layout, layer, {&t}, random);
    cache.step({{0, 0, 40}}, 2);
    const auto stored = [&](float x) {
      return layout == 0   ? x
             : layout == 1 ? mortise::half_to_float(mortise::float_to_half(x))
                           : mortise::bf16_to_float(mortise::float_to_bf16(x));
    };
    for (uint32_t j = 0; j < 40; ++j) {
      std::vector<float> k, v, want_k, want_v;
      cache.read(0, j, &k, &v);
      for (uint32_t i = 0; i < 40; ++i) want_k.push_back(stored(t.k[j * 40 + i]));
      for (uint32_t i = 0; i < 18; ++i) want_v.push_back(stored(t.v[j * 18 + i]));
      CHECK(same_bits(k, want_k));
      CHECK(same_bits(v, want_v));
    }
    CHECK(std::isnan(cache.out(0)[0]));  // position 0 attends to its own NaN
    std::vector<uint8_t> moved(cache.block_bytes());
    std::memcpy(moved.data(), cache.block_memory(0, 0), moved.size());
    Cache alone(subject.table, self.get(), layout, layer, {&t}, random);
    for (const uint32_t first : {0, 5, 16, 17}) alone.step({{0, first, first < 16 ? 11u : 1u}}, 1);
    CHECK(std::memcmp(moved.data(), alone.block_memory(0, 0), moved.size()) == 0);
  }
}

inline void check_refusals(const Subject& subject) {
  const auto self = subject.make({});
  mortise_error error = mortise::c_error();
  for (const auto& layer : {layer_of(4, 3, 8, 8), layer_of(0, 1, 8, 8), layer_of(4, 0, 8, 8),
                            layer_of(4, 4, 0, 8), layer_of(4, 4, 8, 100000), layer_of(5000, 1, 8, 8)})
    CHECK(subject.table.accepts(self.get(), 0, &layer, &error) == MORTISE_UNSUPPORTED);
  auto sinks = layer_of(4, 4, 8, 8);
  sinks.features = MORTISE_ATTENTION_SINKS;
  CHECK(subject.table.accepts(self.get(), 0, &sinks, &error) == MORTISE_UNSUPPORTED);
  CHECK(std::string(error.message).find("sinks") != std::string::npos);
}

/// The checks themselves: a changed V, a window off by one and a score off by a little are seen.
inline void check_planted_faults(const Subject& subject) {
  Random random(5);
  auto layer = layer_of(2, 1, 32, 32);
  const Tokens t(random, layer, 50);
  const auto self = subject.make({});
  Cache cache(subject.table, self.get(), 0, layer, {&t}, random);
  cache.step({{0, 0, 50}}, 2);
  CHECK(attention_error(cache, layer, t, 0, cache.out(0)) < kAttentionError);
  auto wrong = layer;
  wrong.window = 49;
  CHECK(attention_error(cache, wrong, t, 0, cache.out(0)) > kAttentionError);
  wrong = layer;
  wrong.scale *= 1.0001f;
  CHECK(attention_error(cache, wrong, t, 0, cache.out(0)) > kAttentionError);
  auto out = cache.out(0);
  out.back() = std::nextafter(out.back(), 10.0f);
  CHECK_FALSE(same_bits(out, cache.out(0)));
}
}  // namespace mortise_test
