// The weights part. Thread rule and flow: see scheme.h.
#include "scheme.h"

#include <algorithm>

namespace mortise::safetensors {
namespace {

constexpr const char* kMxfp4 = "mxfp4";
constexpr uint64_t kMxfp4BlockElements = 32, kMxfp4BlockBytes = 16;

/// Which plugin reads a quantization that this one does not.
struct Reader {
  std::string_view method;
  std::string_view plugin;
};
constexpr Reader kReaders[] = {{"awq", "awq"},
                               {"gptq", "gptq"},
                               {"compressed-tensors", "compressed_tensors"},
                               {"fp8", "compressed_tensors"}};

tl::unexpected<Error> refuse(const hf::Folder& folder, const std::string& method) {
  const std::string is = "the model is quantized, quant_method \"" + method.substr(0, 64) + "\"";
  for (const Reader& reader : kReaders)
    if (reader.method == method) {
      const std::string name(reader.plugin);
      Error error =
          folder.bad(is + "; weights/" + name + " reads it, set [use] weights = \"" + name + "\"").value();
      error.code = Code::unsupported;
      return pass(std::move(error));
    }
  Error error = folder
                    .bad(is +
                         ", which no plugin reads; take the unquantized model or one in AWQ, GPTQ or "
                         "compressed-tensors form")
                    .value();
  error.code = Code::unsupported;
  return pass(std::move(error));
}

bool has_suffix(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
}

/// gpt-oss: X_blocks u8 [experts, rows, k / 32, 16] and X_scales u8 [experts, rows, k / 32] are the tensor X,
/// [experts][rows][k].
Result<void> add_mxfp4(const hf::Folder& folder, const hf::RawTensor& blocks, hf::TensorList* out) {
  constexpr std::string_view kBlocks = "_blocks";
  const std::string name = blocks.name.substr(0, blocks.name.size() - kBlocks.size());
  const hf::RawTensor* scales = folder.find(name + "_scales");
  if (scales == nullptr)
    return folder.bad(blocks, "the tensor " + name + "_scales is missing beside its blocks");
  const bool fits = blocks.rank == 4 && blocks.size(3) == kMxfp4BlockBytes && blocks.dtype->name == "U8" &&
                    scales->dtype->name == "U8" &&
                    scales->has_shape({blocks.size(0), blocks.size(1), blocks.size(2)});
  if (!fits)
    return folder.bad(blocks, name +
                                  "_blocks and _scales are not u8 [experts, rows, k / 32, 16] and "
                                  "[experts, rows, k / 32]");
  const uint64_t rows = blocks.size(0) * blocks.size(1), groups = blocks.size(2);
  out->add(name, "safetensors.mxfp4/1", {blocks.size(0), blocks.size(1), groups * kMxfp4BlockElements},
           {{"codes", &blocks, {rows, groups * kMxfp4BlockBytes}}, {"scales", scales, {rows, groups}}});
  return {};
}

/// Is `name` the scales of blocks, which speak for both?
bool has_blocks(const hf::Folder& folder, const std::string& name) {
  constexpr std::string_view kScales = "_scales";
  return has_suffix(name, kScales) &&
         folder.find(name.substr(0, name.size() - kScales.size()) + "_blocks") != nullptr;
}

}  // namespace

int32_t Scheme::score(const hf::Glance& glance) {
  if (glance.kind == hf::Glance::tokenizer_only) return 80;
  if (glance.kind != hf::Glance::safetensors) return 0;
  // A quantization that another plugin reads scores higher there; without one, open says what is wrong.
  return glance.quant_method.empty() || glance.quant_method == kMxfp4 ? 100 : 10;
}

Result<void> Scheme::compose(const hf::Folder& folder, hf::TensorList* out) {
  const std::string method = folder.quant_method();
  if (!method.empty() && method != kMxfp4) return refuse(folder, method);
  for (const hf::RawTensor* tensor : folder.tensors()) {
    if (method == kMxfp4 && has_suffix(tensor->name, "_blocks")) {
      MORTISE_CHECK(add_mxfp4(folder, *tensor, out));
    } else if (method != kMxfp4 || !has_blocks(folder, tensor->name)) {
      out->add_stored(*tensor);
    }
  }
  return {};
}

}  // namespace mortise::safetensors
