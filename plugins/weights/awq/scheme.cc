// Composing AWQ models. Thread rule and flow: see scheme.h.
#include "scheme.h"

#include "gemm.h"
#include "planar/module.h"
#include "planar/planar.h"

namespace awq {
namespace {

using namespace mortise::planar;
using mortise::Result;
namespace hf = mortise::hf;

constexpr const char* kCodes = ".qweight";

/// The first of two keys of quantization_config that is there: the hub's spelling, then AutoAWQ's own.
Result<std::optional<int64_t>> either(const Folder& folder, const char* key, const char* other, int64_t low,
                                      int64_t high) {
  MORTISE_TRY(value, config_integer(folder, std::string("quantization_config.") + key, low, high));
  if (value) return value;
  return config_integer(folder, std::string("quantization_config.") + other, low, high);
}

/// The group size, -1 for a whole row.
Result<int64_t> read_config(const Folder& folder) {
  if (folder.quant_method() != "awq")
    return folder.bad("quant_method is " + hf::in_quotes(folder.quant_method()) +
                      " and not awq; leave `use.weights` out, or name the plugin of that scheme");
  for (const char* key : {"version", "format"}) {
    const std::string_view version = folder.metadata().text(std::string("quantization_config.") + key);
    if (!version.empty() && lower(version) != "gemm")
      return folder.bad("AWQ " + std::string(key) + " " + hf::in_quotes(version) +
                        " is not read, only gemm is; convert the model to it");
  }
  MORTISE_TRY(bits, either(folder, "bits", "w_bit", 1, 32));
  if (bits.value_or(kBits) != kBits)
    return folder.bad("AWQ with " + std::to_string(*bits) + " bits is not read, only 4 bits are");
  MORTISE_TRY(group, either(folder, "group_size", "q_group_size", -1, INT32_MAX));
  if (group.value_or(128) == 0) return folder.bad("an AWQ group_size of 0 is impossible");
  return group.value_or(128);
}

Result<void> compose_module(const Folder& folder, const Module& module, int64_t group_size,
                            hf::TensorList* out) {
  MORTISE_CHECK(module.check_matrix(module.codes()));
  MORTISE_TRY(zeros, module.need_matrix(".qzeros"));
  MORTISE_TRY(scales, module.need_matrix(".scales"));
  const uint64_t in = module.codes().size(0);
  const auto group = group_size < 0 ? static_cast<int64_t>(in) : group_size;
  out->add(module.prefix() + ".weight", kGemmTable.id, {module.codes().size(1) * kWordCodes, in},
           {plane("codes", module.codes()), plane("zeros", *zeros), plane("scales", *scales)},
           {hf::int_param("bits", kBits), hf::int_param("group_size", group)});
  if (folder.find(module.prefix() + ".weight") != nullptr)
    return module.bad("the same linear is also stored as " + module.prefix() + ".weight");
  const Result<void> checked = validate(*out->at(out->size() - 1));
  return checked ? checked : module.bad(checked.error().message);
}

}  // namespace

Result<void> Scheme::compose(const Folder& folder, hf::TensorList* out) {
  MORTISE_TRY(group_size, read_config(folder));
  for (const RawTensor* raw : folder.tensors()) {
    if (const std::string_view prefix = prefix_of(raw->name, kCodes); !prefix.empty()) {
      MORTISE_CHECK(compose_module(folder, Module(folder, prefix, *raw), group_size, out));
      continue;
    }
    bool is_part = false;
    for (const char* suffix : {".qzeros", ".scales"})
      if (const std::string_view prefix = prefix_of(raw->name, suffix); !prefix.empty()) {
        MORTISE_CHECK(Module(folder, prefix, *raw).need(kCodes));
        is_part = true;
      }
    if (!is_part) out->add_stored(*raw);
  }
  return {};
}

}  // namespace awq
