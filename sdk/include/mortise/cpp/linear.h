// A linear plugin for one format of blocks: everything but the arithmetic. The author writes a kernel class:
//
//   struct MyKernel {
//     static constexpr const char* kFormat = "gguf.q8_0/1";
//     static constexpr uint64_t kElements = 32, kBytes = 34;  // of a block
//     static constexpr const char* kNumerics = "one line for explain";
//     static constexpr double kMaxError = 1e-5;               // of sum |x| |w|
//     // Dot products of one weight row with M rows of x. Each must be the same bits whatever M is.
//     template <int M> static void dot(const uint8_t* row, uint64_t blocks, const float* const* x, float*
//     out);
//     // The row's numbers, bit-equal to the format's decoder.
//     static void decode(const uint8_t* row, uint64_t blocks, float* out);
//   };
//   MORTISE_LINEAR("vendor.name", "1.0.0", "licence", "name", MyKernel, "one line of help");
//
// Thread rule: an instance holds nothing; a weight is constant after bind. Flow: the host packs (a plain copy
// of the rows), plans tasks of whole weight rows, and runs them; each row of the result is a function of its
// row of x alone, so the plugin is batch-invariant.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/linear.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  template <class Kernel>
  class BlockLinear {
   public:
    BlockLinear(Host, const NoParams&) {}

    static constexpr mortise_part part(const char* name, const char* help) {
      return make_part<BlockLinear>("linear", name, MORTISE_LINEAR_ID, help, &kTable);
    }

   private:
    static constexpr int kTile = 4;                 // rows of x that share a pass over a weight row
    static constexpr uint64_t kTaskWork = 400'000;  // multiply-adds of a task
    static constexpr mortise_linear_claim kClaim = {
        sizeof(mortise_linear_claim),
        1,
        Kernel::kFormat,
        "act.f32/1",
        "cpu",
        "",
        "portable",
        Kernel::kNumerics,
        MORTISE_LINEAR_BIAS | MORTISE_LINEAR_ADD | MORTISE_LINEAR_UNPACK,
        1,
        Kernel::kMaxError,
    };

    struct Weight {
      const uint8_t* rows;
      uint64_t count, blocks;
      const uint8_t* row(uint64_t n) const { return rows + n * blocks * Kernel::kBytes; }
    };

    static const mortise_linear_claim* const* claims(void*, uint32_t* count) {
      static constexpr const mortise_linear_claim* kClaims[] = {&kClaim};
      *count = 1;
      return kClaims;
    }

    static mortise_status accepts(void*, uint32_t, const mortise_linear_desc* desc, mortise_error* error) {
      return guard(error, [&]() -> Result<void> {
        if (std::string_view(desc->tensor->format) != Kernel::kFormat || desc->tensor->plane_count != 1)
          return fail(Code::unsupported, "", std::string("not a tensor of ") + Kernel::kFormat);
        if (desc->rows == 0 || desc->k == 0 || desc->k % Kernel::kElements != 0)
          return fail(Code::unsupported, "", "a row is no whole number of blocks");
        return {};
      });
    }

    static uint64_t row_bytes(const mortise_linear_desc& desc) {
      return desc.k / Kernel::kElements * Kernel::kBytes;
    }
    static uint64_t packed_bytes(void*, uint32_t, const mortise_linear_desc* desc) {
      return desc->rows * row_bytes(*desc);
    }
    static mortise_status pack(void*, uint32_t, const mortise_linear_desc* desc, const void* const* planes,
                               uint64_t row0, uint64_t rows, void* packed, mortise_error*) {
      const uint64_t bytes = row_bytes(*desc);
      std::memcpy(static_cast<uint8_t*>(packed) + row0 * bytes,
                  static_cast<const uint8_t*>(planes[0]) + (desc->row0 + row0) * bytes, rows * bytes);
      return MORTISE_OK;
    }
    static mortise_status bind(void*, uint32_t, const mortise_linear_desc* desc, const void* packed,
                               void** weight, mortise_error* error) {
      return guard(error, [&]() -> Result<void> {
        *weight = new Weight{static_cast<const uint8_t*>(packed), desc->rows, desc->k / Kernel::kElements};
        return {};
      });
    }
    static void unbind(void*, void* weight) { delete static_cast<Weight*>(weight); }

    static void unpack_rows(void*, void* weight, const uint32_t* rows, uint64_t count, float* out) {
      const Weight& w = *static_cast<Weight*>(weight);
      for (uint64_t i = 0; i < count; ++i)
        Kernel::decode(w.row(rows[i]), w.blocks, out + i * w.blocks * Kernel::kElements);
    }

    static void plan(void*, uint32_t, const mortise_linear_desc* desc, uint64_t m, uint32_t workers,
                     mortise_plan* out) {
      const uint64_t wanted = desc->rows * desc->k * m / kTaskWork;
      const uint64_t even = wanted == 0 ? 1 : (wanted + workers - 1) / workers * workers;
      out->tasks = static_cast<uint32_t>(std::min(desc->rows, even));
      out->scratch_bytes = 0;
    }

    /// Rows [i, i + M) of x with weight row n.
    template <int M>
    static void tile(const Weight& w, const mortise_linear_args& args, uint64_t i, uint64_t n) {
      const float* x[M];
      float sums[M];
      for (int r = 0; r < M; ++r) x[r] = static_cast<const float*>(args.x) + (i + r) * args.x_stride;
      Kernel::template dot<M>(w.row(n), w.blocks, x, sums);
      for (int r = 0; r < M; ++r) {
        if (args.bias != nullptr) sums[r] += args.bias[n];
        if (args.add != nullptr) sums[r] += args.add[(i + r) * args.add_stride + n];
        args.y[(i + r) * args.y_stride + n] = sums[r];
      }
    }

    static void run(void*, void* weight, const mortise_linear_args* args, uint32_t task, void*) {
      const Weight& w = *static_cast<Weight*>(weight);
      const uint64_t end = w.count * (task + 1) / args->tasks;
      for (uint64_t n = w.count * task / args->tasks; n < end; ++n) {
        uint64_t i = 0;
        for (; i + kTile <= args->m; i += kTile) tile<kTile>(w, *args, i, n);
        for (; i < args->m; ++i) tile<1>(w, *args, i, n);
      }
    }

    static constexpr mortise_linear kTable = {
        sizeof(mortise_linear), 0,       &claims, &accepts, &packed_bytes, &pack, &bind, &unbind,
        &unpack_rows,           nullptr, nullptr, nullptr,  &plan,         &run};
  };

}  // namespace )
}  // namespace mortise

/// Registers a plugin of one linear part.
#define MORTISE_LINEAR(id, version, license, name, Kernel, help)                              \
  static constexpr mortise_part linear_part = mortise::BlockLinear<Kernel>::part(name, help); \
  MORTISE_PLUGIN(id, version, license, MORTISE_LINEAR_ID, "linear:" name, "", &linear_part)
