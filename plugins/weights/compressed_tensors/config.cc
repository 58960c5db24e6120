// Reading quantization_config. Thread rule and flow: see config.h.
#include "config.h"

#include <algorithm>
#include <array>
#include <string>

#include "planar/module.h"

namespace compressed_tensors {
namespace {

using namespace mortise::planar;
using mortise::Result;
namespace hf = mortise::hf;

constexpr std::string_view kPrefix = "quantization_config.";
constexpr std::array<std::string_view, 6> kFormats = {"pack-quantized",  "int-quantized",   "float-quantized",
                                                      "naive-quantized", "mixed-precision", "dense"};

std::string key(std::string_view name) { return std::string(kPrefix) + std::string(name); }

Result<void> check_format(const Folder& folder, const std::string& name) {
  const std::string_view format = folder.metadata().text(name);
  if (format.empty() || std::find(kFormats.begin(), kFormats.end(), lower(format)) != kFormats.end())
    return {};
  return folder.bad("the compressed-tensors format " + hf::in_quotes(format) +
                    " is not read; pack-quantized, int-quantized, float-quantized and naive-quantized are");
}

void add_once(const Reach& reach, Config* out) {
  const auto same = [&](const Reach& r) {
    return r.kind == reach.kind && r.rows == reach.rows && r.columns == reach.columns;
  };
  if (std::none_of(out->reaches.begin(), out->reaches.end(), same)) out->reaches.push_back(reach);
}

/// The two sizes of a block.
Result<Reach> block(const Folder& folder, const std::string& name) {
  const hf::Metadata::Entry* entry = folder.metadata().find(name);
  const auto possible = [](int64_t size) { return size > 0 && size <= INT32_MAX; };
  if (entry == nullptr || entry->type != MORTISE_INT || !entry->is_array || entry->ints.size() != 2 ||
      !possible(entry->ints[0]) || !possible(entry->ints[1]))
    return folder.bad(name + " is not the two sizes of a block");
  return Reach{Reach::block, static_cast<uint64_t>(entry->ints[0]), static_cast<uint64_t>(entry->ints[1])};
}

/// `prefix`: of the group's "weights", with its dot. Without a strategy the group size says it, as the
/// format's own reader has it.
Result<Reach> read_reach(const Folder& folder, const std::string& prefix) {
  MORTISE_TRY(size, config_integer(folder, prefix + "group_size", -1, INT32_MAX));
  std::string strategy = lower(folder.metadata().text(prefix + "strategy"));
  if (strategy.empty()) strategy = !size ? "tensor" : *size == -1 ? "channel" : "group";
  if (strategy == "tensor") return Reach{Reach::tensor};
  if (strategy == "channel") return Reach{Reach::channel};
  if (strategy == "block") return block(folder, prefix + "block_structure");
  if (strategy != "group")
    return folder.bad("the strategy " + hf::in_quotes(strategy) +
                      " of weights is not read; tensor, channel, group and block are");
  if (size.value_or(0) <= 0) return folder.bad(prefix + "group_size is not above 0; the strategy is group");
  return Reach{Reach::group, 1, static_cast<uint64_t>(*size)};
}

/// One of config_groups; `prefix` ends in a dot.
Result<void> read_group(const Folder& folder, const std::string& prefix, Config* out) {
  MORTISE_CHECK(check_format(folder, prefix + "format"));
  const std::string weights = prefix + "weights.";
  if (!folder.metadata().has_prefix(weights)) return {};  // activations alone
  MORTISE_TRY(bits, config_integer(folder, weights + "num_bits", 1, 64));
  const std::string type = lower(folder.metadata().text(weights + "type"));
  const int64_t count = bits.value_or(8);
  const bool is_float = type == "float";
  if ((!is_float && !type.empty() && type != "int") || (is_float ? count != 8 : count != 4 && count != 8))
    return folder.bad("weights of type " + hf::in_quotes(type) + " with " + std::to_string(count) +
                      " bits are not read; int with 4 or 8 and float with 8 are");
  if (!is_float) out->bits.insert(static_cast<uint32_t>(count));
  MORTISE_TRY(reach, read_reach(folder, weights));
  add_once(reach, out);
  return {};
}

/// The names of config_groups, in order, each as a prefix with its dot.
std::vector<std::string> group_prefixes(const Folder& folder) {
  const std::string groups = key("config_groups.");
  std::vector<std::string> out;
  for (uint64_t i = 0; i < folder.metadata().size(); ++i) {
    const std::string& name = folder.metadata().at(i).key;
    if (name.rfind(groups, 0) != 0) continue;
    const size_t dot = name.find('.', groups.size());
    if (dot == std::string::npos) continue;
    std::string prefix = name.substr(0, dot + 1);
    if (out.empty() || out.back() != prefix) out.push_back(std::move(prefix));
  }
  return out;
}

/// quant_method fp8, the form of DeepSeek, Qwen and AutoFP8: blocks where weight_block_size is given, else
/// one scale for a tensor or an output.
Result<Config> read_fp8(const Folder& folder) {
  const std::string_view format = folder.metadata().text(key("fmt"));
  if (!format.empty() && lower(format) != "e4m3")
    return folder.bad("FP8 fmt " + hf::in_quotes(format) + " is not read, only e4m3 is");
  Config out;
  if (folder.metadata().find(key("weight_block_size")) != nullptr) {
    MORTISE_TRY(reach, block(folder, key("weight_block_size")));
    out.reaches = {reach};
  } else {
    out.reaches = {{Reach::tensor}, {Reach::channel}};
  }
  return out;
}

}  // namespace

uint64_t Reach::rows_of(uint64_t out) const {
  return kind == tensor ? out : kind == channel ? 1 : std::min(rows, out);
}

uint64_t Reach::columns_of(uint64_t in) const {
  return kind == tensor || kind == channel ? in : std::min(columns, in);
}

Result<Config> read_config(const Folder& folder) {
  const std::string method = folder.quant_method();
  if (method == "fp8") return read_fp8(folder);
  if (method != "compressed-tensors")
    return folder.bad("quant_method is " + hf::in_quotes(method) +
                      " and neither compressed-tensors nor fp8; leave `use.weights` out, or name the plugin "
                      "of that scheme");
  MORTISE_CHECK(check_format(folder, key("format")));
  MORTISE_CHECK(check_format(folder, key("sparsity_config.format")));
  if (folder.metadata().has_prefix(key("transform_config.config_groups.")))
    return folder.bad("the model rotates activations (transform_config), which is not read");
  Config out;
  for (const std::string& prefix : group_prefixes(folder)) MORTISE_CHECK(read_group(folder, prefix, &out));
  if (out.reaches.empty())
    return folder.bad("quantization_config.config_groups names no weights; the config is incomplete");
  return out;
}

}  // namespace compressed_tensors
