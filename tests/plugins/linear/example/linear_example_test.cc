// The example linear-q8_0 against float64 and against itself: rows alone and among others.
// Thread rule: one thread. Flow: takes the table out of the plugin's descriptor, as the host does.
#include <mortise/cpp/half.h>
#include <mortise/plugin.h>

#include "format.h"
#include "plugins/linear/linear_test.h"

using namespace mortise_test;

extern "C" const mortise_plugin* mortise_plugin_v1(void);

namespace {

constexpr uint32_t kQ80 = 8;  // ggml's number of Q8_0

/// Random Q8_0 rows, described as the gguf plugin describes them.
struct Weight {
  FakeHost host;
  gguf::Format<kQ80> decoder{host.host(), {}};
  mortise_format format{sizeof(format), 0, "gguf.q8_0/1", 32, 34, nullptr, &gguf::decode_tensor_rows};
  std::vector<uint8_t> bytes;
  mortise_plane plane{};
  const mortise_plane* planes[1] = {&plane};
  mortise_tensor tensor{};
  mortise_linear_desc desc{};
  std::vector<float> values;

  Weight(Random& random, uint64_t rows, uint64_t k) : values(rows * k) {
    for (uint64_t b = 0; b < rows * k / 32; ++b) {
      const uint16_t scale = mortise::float_to_half(0.01f * random.normal());
      bytes.push_back(static_cast<uint8_t>(scale));
      bytes.push_back(static_cast<uint8_t>(scale >> 8));
      for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<uint8_t>(random.below(256)));
    }
    tensor.size = sizeof(tensor);
    tensor.rank = 2;
    tensor.format = format.id;
    tensor.shape[0] = rows;
    tensor.shape[1] = k;
    tensor.plane_count = 1;
    tensor.planes = planes;
    desc = {sizeof(desc), 0, 0, rows, k, &tensor, &format, &decoder};
    const void* memory[] = {bytes.data()};
    gguf::decode_tensor_rows(&decoder, &tensor, memory, 0, rows, values.data());
  }
};

const mortise_linear& table() {
  return *static_cast<const mortise_linear*>(mortise_plugin_v1()->parts[0]->table);
}

std::vector<float> multiply(void* weight, const mortise_linear_desc& desc, const float* x, uint64_t m,
                            uint32_t workers) {
  std::vector<float> y(m * desc.rows, NAN);
  mortise_plan plan{sizeof(plan), 0, 0};
  table().plan(nullptr, 0, &desc, m, workers, &plan);
  const mortise_linear_args args{sizeof(args), plan.tasks, m,       x,       desc.k,
                                 y.data(),     desc.rows,  nullptr, nullptr, 0};
  for (uint32_t task = plan.tasks; task-- > 0;) table().run(nullptr, weight, &args, task, nullptr);
  return y;
}

}  // namespace

TEST_CASE("linear example is as exact as it says, batch-invariant, and unpacks to the decoder's bits",
          "[linear]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  uint32_t count = 0;
  const double declared = table().claims(nullptr, &count)[0]->max_error;
  for (const auto& [rows, k] : {std::pair<uint64_t, uint64_t>{1, 32}, {7, 96}, {64, 576}, {33, 4096}}) {
    Random random(rows);
    const Weight w(random, rows, k);
    mortise_error error = mortise::c_error();
    REQUIRE(table().accepts(nullptr, 0, &w.desc, &error) == MORTISE_OK);
    REQUIRE(table().packed_bytes(nullptr, 0, &w.desc) == w.bytes.size());
    std::vector<uint8_t> packed(w.bytes.size());
    const void* memory[] = {w.bytes.data()};
    for (uint64_t row = 0; row < rows; ++row)
      REQUIRE(table().pack(nullptr, 0, &w.desc, memory, row, 1, packed.data(), nullptr) == MORTISE_OK);
    void* weight = nullptr;
    REQUIRE(table().bind(nullptr, 0, &w.desc, packed.data(), &weight, nullptr) == MORTISE_OK);
    const uint64_t m = 23;
    const auto x = random.normals(m * k);
    const auto y = multiply(weight, w.desc, x.data(), m, 3);
    for (uint64_t i = 0; i < m; ++i) {
      const auto alone = multiply(weight, w.desc, &x[i * k], 1, 1);
      CHECK(same_bits(alone, {y.begin() + static_cast<ptrdiff_t>(i * rows),
                              y.begin() + static_cast<ptrdiff_t>((i + 1) * rows)}));
      for (uint64_t j = 0; j < rows; ++j) {
        double exact = 0, size = 0;
        for (uint64_t l = 0; l < k; ++l) {
          const double product = static_cast<double>(x[i * k + l]) * w.values[j * k + l];
          exact += product;
          size += std::fabs(product);
        }
        CHECK(std::fabs(y[i * rows + j] - exact) <= 2e-6 * size);
        CHECK(2e-6 <= declared);
      }
    }
    const uint32_t last = static_cast<uint32_t>(rows) - 1;
    std::vector<float> row(k);
    table().unpack_rows(nullptr, weight, &last, 1, row.data());
    CHECK(std::memcmp(row.data(), &w.values[last * k], k * sizeof(float)) == 0);
    table().unbind(nullptr, weight);
  }
}

TEST_CASE("linear example refuses other formats", "[linear]") {
  Random random(1);
  Weight w(random, 2, 64);
  mortise_error error = mortise::c_error();
  w.tensor.format = "gguf.q4_0/1";
  CHECK(table().accepts(nullptr, 0, &w.desc, &error) == MORTISE_UNSUPPORTED);
  CHECK(std::string(error.message).find("gguf.q8_0/1") != std::string::npos);
}
