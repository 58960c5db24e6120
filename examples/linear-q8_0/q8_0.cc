// A linear kernel for one weight format, GGUF's Q8_0: blocks of 32 int8 codes under a float16 scale. The sum
// of code * x is taken in each block, then scaled once, where the reference kernel scales every weight first.
// Thread rule: pure functions, on the host's workers. Flow: mortise/cpp/linear.h packs, plans and splits the
// work over rows; in TOML: [kernels] pin = { "gguf.q8_0" = "q8_0-blocks" }.
#include <mortise/cpp/half.h>
#include <mortise/cpp/lanes.h>
#include <mortise/cpp/linear.h>

namespace {

namespace lanes = mortise::lanes;

struct Q8Blocks {
  static constexpr const char* kFormat = "gguf.q8_0/1";
  static constexpr uint64_t kElements = 32, kBytes = 34;
  static constexpr const char* kNumerics = "f32 sums of code * x in 16 lanes, scaled once a block";
  // k / 16 + 3 roundings of 2^-24 at most, for k up to 25 000.
  static constexpr double kMaxError = 1e-4;

  static float scale_of(const uint8_t* block) {
    uint16_t bits;
    std::memcpy(&bits, block, sizeof(bits));
    return mortise::half_to_float(bits);
  }

  /// The block's codes as float32.
  static void codes_of(const uint8_t* block, float* out) {
    for (uint64_t i = 0; i < kElements; ++i) out[i] = static_cast<int8_t>(block[2 + i]);
  }

  // Each row of x has its own sums, so M changes the speed and never the result.
  template <int M>
  static void dot(const uint8_t* row, uint64_t blocks, const float* const* x, float* out) {
    lanes::F32 sums[M];
    MORTISE_REPEAT(M, r, sums[r] = lanes::zero());
    for (uint64_t b = 0; b < blocks; ++b, row += kBytes) {
      float codes[kElements];
      codes_of(row, codes);
      const lanes::F32 low = lanes::load(codes), high = lanes::load(codes + 16);
      const lanes::F32 scale = lanes::all(scale_of(row));
      MORTISE_REPEAT(M, r, const float* at = x[r] + b * kElements;
                     sums[r] = sums[r] + (low * lanes::load(at) + high * lanes::load(at + 16)) * scale);
    }
    MORTISE_REPEAT(M, r, out[r] = lanes::sum(sums[r]));
  }

  // As the format is defined, so that an embedding can be read from the packed weight.
  static void decode(const uint8_t* row, uint64_t blocks, float* out) {
    for (uint64_t b = 0; b < blocks; ++b, row += kBytes, out += kElements) {
      codes_of(row, out);
      const float scale = scale_of(row);
      for (uint64_t i = 0; i < kElements; ++i) out[i] *= scale;
    }
  }
};

}  // namespace

MORTISE_LINEAR("example.q8_0-blocks", "1.0.0", "Apache-2.0", "q8_0-blocks", Q8Blocks,
               "Q8_0 weights, block by block");
