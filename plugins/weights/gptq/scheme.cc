// Composing GPTQ models. Thread rule and flow: see scheme.h.
#include "scheme.h"

#include "packed.h"
#include "planar/module.h"
#include "planar/planar.h"

namespace gptq {
namespace {

using namespace mortise::planar;
using mortise::Result;
namespace hf = mortise::hf;

constexpr const char* kCodes = ".qweight";
constexpr int64_t kWholeRow = -1;

struct Config {
  uint32_t bits = 0;
  int64_t group_size = kWholeRow;
  int64_t zero_offset = 1;    // what is to be added to a stored zero point
  bool is_act_order = false;  // where the file ends before its group indices: are they needed?
  bool has_rules = false;     // "dynamic": some modules have other bits or groups than the rest
};

std::string key(const char* name) { return std::string("quantization_config.") + name; }

Result<void> read_layout(const Folder& folder, Config* out) {
  std::string_view layout = folder.metadata().text(key("checkpoint_format"));
  if (layout.empty()) layout = folder.metadata().text(key("format"));
  const hf::Metadata::Entry* marlin = folder.metadata().find(key("is_marlin_format"));
  if (marlin != nullptr && !marlin->ints.empty() && marlin->ints[0] != 0) layout = "marlin";
  const std::string name = lower(layout);
  if (!name.empty() && name != "gptq" && name != "gptq_v2")
    return folder.bad("GPTQ checkpoint_format " + hf::in_quotes(layout) +
                      " is not read, only gptq and gptq_v2 are; convert the model to one of them");
  out->zero_offset = name == "gptq_v2" ? 0 : 1;
  const std::string_view word = folder.metadata().text(key("pack_dtype"));
  if (!word.empty() && word != "int32")
    return folder.bad("GPTQ pack_dtype " + hf::in_quotes(word) + " is not read, only int32 is");
  return {};
}

Result<Config> read_config(const Folder& folder) {
  if (folder.quant_method() != "gptq")
    return folder.bad("quant_method is " + hf::in_quotes(folder.quant_method()) +
                      " and not gptq; leave `use.weights` out, or name the plugin of that scheme");
  Config out;
  MORTISE_CHECK(read_layout(folder, &out));
  MORTISE_TRY(bits, config_integer(folder, key("bits"), 1, 32));
  if (!bits) return folder.bad("quantization_config.bits is missing; the config is incomplete");
  if (*bits != 4 && *bits != 8)
    return folder.bad("GPTQ with " + std::to_string(*bits) + " bits is not read, only 4 and 8 bits are");
  out.bits = static_cast<uint32_t>(*bits);
  MORTISE_TRY(group, config_integer(folder, key("group_size"), kWholeRow, INT32_MAX));
  if (group.value_or(128) == 0) return folder.bad("a GPTQ group_size of 0 is impossible");
  out.group_size = group.value_or(128);
  const hf::Metadata::Entry* order = folder.metadata().find(key("desc_act"));
  out.is_act_order = order != nullptr && !order->ints.empty() && order->ints[0] != 0;
  out.has_rules = folder.metadata().has_prefix(key("dynamic."));
  return out;
}

/// The bits of a module: the config's, or with rules the other ones where only these fit its zero points.
uint32_t bits_of(const Config& config, const RawTensor& zeros, const RawTensor& scales) {
  const auto fits = [&](uint32_t bits) { return zeros.size(1) == divide_up(scales.size(1), 32 / bits); };
  const uint32_t other = config.bits == 4 ? 8 : 4;
  return config.has_rules && !fits(config.bits) && fits(other) ? other : config.bits;
}

uint64_t group_size_of(const Config& config, uint64_t in, uint64_t groups) {
  const uint64_t size =
      config.group_size == kWholeRow ? in : std::min<uint64_t>(in, static_cast<uint64_t>(config.group_size));
  const bool fits = divide_up(in, size) == groups;
  return config.has_rules && !fits && in % groups == 0 ? in / groups : size;
}

Result<void> compose_module(const Folder& folder, const Config& config, const Module& module,
                            hf::TensorList* out) {
  MORTISE_CHECK(module.check_matrix(module.codes()));
  MORTISE_TRY(zeros, module.need_matrix(".qzeros"));
  MORTISE_TRY(scales, module.need_matrix(".scales"));
  if (folder.find(module.prefix() + ".weight") != nullptr)
    return module.bad("the same linear is also stored as " + module.prefix() + ".weight");
  const uint32_t bits = bits_of(config, *zeros, *scales);
  const uint64_t in = module.codes().size(0) * (32 / bits);
  const uint64_t group = group_size_of(config, in, scales->size(0));
  if (divide_up(in, group) != scales->size(0))
    return module.bad("rows of " + std::to_string(in) + " in groups of " + std::to_string(group) +
                      " do not make the " + std::to_string(scales->size(0)) + " groups of its scales");
  MORTISE_TRY(index, module.group_index(".g_idx", in, group, false, config.is_act_order));
  std::vector<hf::PlaneSpec> planes = {plane("codes", module.codes()), plane("zeros", *zeros),
                                       plane("scales", *scales)};
  if (index != nullptr) planes.push_back(plane("group_index", *index));
  const uint64_t shape[] = {module.codes().size(1), in};
  const mortise_attr params[] = {hf::int_param("bits", bits),
                                 hf::int_param("group_size", static_cast<int64_t>(group)),
                                 hf::int_param("zero_offset", config.zero_offset)};
  out->add(module.prefix() + ".weight", (bits == 4 ? kInt4Table : kInt8Table).id, shape, planes, params);
  const Result<void> checked = validate(*out->at(out->size() - 1), bits);
  return checked ? checked : module.bad(checked.error().message);
}

}  // namespace

Result<void> Scheme::compose(const Folder& folder, hf::TensorList* out) {
  MORTISE_TRY(config, read_config(folder));
  for (const RawTensor* raw : folder.tensors()) {
    if (const std::string_view prefix = prefix_of(raw->name, kCodes); !prefix.empty()) {
      MORTISE_CHECK(compose_module(folder, config, Module(folder, prefix, *raw), out));
      continue;
    }
    bool is_part = false;
    for (const char* suffix : {".qzeros", ".scales", ".g_idx"})
      if (const std::string_view prefix = prefix_of(raw->name, suffix); !prefix.empty()) {
        MORTISE_CHECK(Module(folder, prefix, *raw).need(kCodes));
        is_part = true;
      }
    if (!is_part) out->add_stored(*raw);
  }
  return {};
}

}  // namespace gptq
