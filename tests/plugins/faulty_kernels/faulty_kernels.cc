// For tests: two linear kernels, kernel_a and kernel_b, for one format, which claim and compute what their
// tables
// ([plugin.kernel_a]) say: right or wrong in several ways, and with claims that any of the host's filters
// meets. Thread rule: an instance is constant after create; a weight after bind. Flow: --plugins with this
// folder.
#include <mortise/cpp/part.h>
#include <mortise/linear.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace {

using mortise::Code;
using mortise::Result;

#define KERNEL_PARAMS(MORTISE_PARAM)                                                                    \
  MORTISE_PARAM(choice, fault, "\"none\"", "none|row|batch|nan|unpack|pack|bind|accepts", config,       \
                "what goes wrong: one weight row, several rows of x, a value, gathering, or a refusal") \
  MORTISE_PARAM(string, format, "\"gguf.q8_0/1\"", nullptr, config, "the format it claims")             \
  MORTISE_PARAM(string, device, "\"cpu\"", nullptr, config, "the device it claims")                     \
  MORTISE_PARAM(string, isa, "\"\"", nullptr, config, "processor features it claims to need")           \
  MORTISE_PARAM(string, tier, "\"portable\"", nullptr, config, "the tier it claims")                    \
  MORTISE_PARAM(int, features, "7", "[0,7]", config, "the features it claims: bias 1, add 2, unpack 4") \
  MORTISE_PARAM(bool, batch_invariant, "true", nullptr, config, "what it declares")
MORTISE_PARAMS(KernelParams, KERNEL_PARAMS);

constexpr uint64_t kWrongRow = 5;  // of the weight
constexpr double kMaxError = 1e-6;

struct Kernel {
  Kernel(mortise::Host, const KernelParams& p)
      : fault(p.fault.value),
        format(p.format.value),
        device(p.device.value),
        isa(p.isa.value),
        tier(p.tier.value),
        claim{sizeof(claim),
              p.batch_invariant ? 1u : 0u,
              format.c_str(),
              "act.f32/1",
              device.c_str(),
              isa.c_str(),
              tier.c_str(),
              "a test's",
              static_cast<uint64_t>(p.features.value),
              1,
              kMaxError} {}
  const std::string fault, format, device, isa, tier;
  const mortise_linear_claim claim;
  const mortise_linear_claim* const claims[1] = {&claim};
};

struct Weight {
  const Kernel* kernel;
  const mortise_linear_desc* desc;
  const void* planes[1];

  void decode(uint64_t row, float* out) const {
    desc->format->decode_rows(desc->format_self, desc->tensor, planes, row, 1, out);
  }
};

const Kernel& kernel(void* self) { return *static_cast<Kernel*>(self); }

uint64_t row_bytes(const mortise_linear_desc& desc) {
  return desc.k / desc.format->block_elements * desc.format->block_bytes;
}

const mortise_linear_claim* const* claims(void* self, uint32_t* count) {
  *count = 1;
  return kernel(self).claims;
}

mortise_status refuse_if(bool refuses, const char* why, mortise_error* error) {
  return refuses ? mortise::to_c({Code::unsupported, "", why}, error) : MORTISE_OK;
}

mortise_status accepts(void* self, uint32_t, const mortise_linear_desc* desc, mortise_error* error) {
  const bool refuses = kernel(self).fault == "accepts" || desc->format->block_elements == 0;
  return refuse_if(refuses, "not this shape", error);
}

uint64_t packed_bytes(void*, uint32_t, const mortise_linear_desc* desc) {
  return desc->rows * row_bytes(*desc);
}

mortise_status pack(void* self, uint32_t, const mortise_linear_desc* desc, const void* const* planes,
                    uint64_t row0, uint64_t rows, void* packed, mortise_error* error) {
  const uint64_t bytes = row_bytes(*desc);
  std::memcpy(static_cast<uint8_t*>(packed) + row0 * bytes,
              static_cast<const uint8_t*>(planes[0]) + (desc->row0 + row0) * bytes, rows * bytes);
  return refuse_if(kernel(self).fault == "pack", "cannot pack", error);
}

mortise_status bind(void* self, uint32_t, const mortise_linear_desc* desc, const void* packed, void** weight,
                    mortise_error* error) {
  if (kernel(self).fault == "bind") return refuse_if(true, "cannot bind", error);
  *weight = new Weight{&kernel(self), desc, {packed}};
  return MORTISE_OK;
}

void unbind(void*, void* weight) { delete static_cast<Weight*>(weight); }

void unpack_rows(void*, void* weight, const uint32_t* rows, uint64_t count, float* out) {
  const auto& w = *static_cast<Weight*>(weight);
  for (uint64_t i = 0; i < count; ++i) {
    w.decode(rows[i], out + i * w.desc->k);
    if (w.kernel->fault == "unpack") out[i * w.desc->k] = std::nextafter(out[i * w.desc->k], 2e9f);
  }
}

void plan(void*, uint32_t, const mortise_linear_desc* desc, uint64_t, uint32_t, mortise_plan* out) {
  out->tasks = 1;
  out->scratch_bytes = desc->k * sizeof(float);
}

double wrong(const Weight& w, uint64_t m, uint64_t row, double y) {
  const std::string& fault = w.kernel->fault;
  if (fault == "row" && row == kWrongRow) return y + 1;
  if (fault == "batch" && m > 1) return y + 1;
  if (fault == "nan" && row == kWrongRow) return NAN;
  return y;
}

void run(void*, void* weight, const mortise_linear_args* args, uint32_t, void* scratch) {
  const auto& w = *static_cast<Weight*>(weight);
  auto* row = static_cast<float*>(scratch);
  const auto* x = static_cast<const float*>(args->x);
  for (uint64_t n = 0; n < w.desc->rows; ++n) {
    w.decode(n, row);
    for (uint64_t m = 0; m < args->m; ++m) {
      double y = args->bias == nullptr ? 0 : double(args->bias[n]);
      for (uint64_t k = 0; k < w.desc->k; ++k) y += double(row[k]) * double(x[m * args->x_stride + k]);
      if (args->add != nullptr) y += double(args->add[m * args->add_stride + n]);
      args->y[m * args->y_stride + n] = static_cast<float>(wrong(w, args->m, n, y));
    }
  }
}

constexpr mortise_linear kTable = {
    sizeof(mortise_linear), 0,       &claims, &accepts, &packed_bytes, &pack, &bind, &unbind,
    &unpack_rows,           nullptr, nullptr, nullptr,  &plan,         &run,
};

constexpr mortise_part part(const char* name) {
  return mortise::make_part<Kernel, KernelParams>(
      "linear", name, MORTISE_LINEAR_ID, "a kernel that is as right or wrong as it is told", &kTable);
}
constexpr mortise_part kA = part("kernel_a"), kB = part("kernel_b");

}  // namespace

MORTISE_PLUGIN("test.faulty", "0.1.0", "Apache-2.0", MORTISE_LINEAR_ID " " MORTISE_FORMAT_ID,
               "linear:kernel_a linear:kernel_b", "", &kA, &kB);
