// Composing compressed-tensors models. Thread rule and flow: see scheme.h.
#include "scheme.h"

#include <cstring>

#include "config.h"
#include "layout.h"
#include "planar/module.h"
#include "planar/planar.h"

namespace compressed_tensors {
namespace {

using namespace mortise::planar;
using mortise::Result;
namespace hf = mortise::hf;

constexpr const char* kPacked = ".weight_packed";
constexpr const char* kWeight = ".weight";

/// Is it `X.weight` in whole bytes that need a scale?
bool is_bytes(const RawTensor& raw) {
  const std::string_view element = raw.dtype->element;
  return (element == "i8" || element == "f8_e4m3") && !prefix_of(raw.name, kWeight).empty();
}

/// [rows, columns] of the scales: one number and a vector are the first column of a matrix.
std::array<uint64_t, 2> scale_shape(const RawTensor& scales) {
  return {scales.rank == 0 ? 1 : scales.size(0), scales.rank < 2 ? 1 : scales.size(1)};
}

class Composer {
 public:
  Composer(const Folder& folder, const Config& config, hf::TensorList* out)
      : folder_(folder), config_(config), out_(out) {}

  Result<void> packed(const Module& module) {
    MORTISE_CHECK(module.check_matrix(module.codes()));
    if (folder_.find(module.prefix() + kWeight) != nullptr)
      return module.bad("the same linear is also stored as " + hf::in_quotes(module.prefix() + kWeight));
    const uint64_t words = module.codes().size(1);
    MORTISE_TRY(in, stored_columns(module));
    for (const uint32_t bits : config_.bits) {
      const uint64_t columns = in != 0 ? in : words * (32 / bits);
      const Kind kind = bits == 4 ? Kind::pack4 : Kind::pack8;
      if (words != divide_up(columns, 32 / bits)) continue;
      if (in == 0 && config_.bits.size() > 1) break;
      return add(module, kind, module.codes().size(0), columns);
    }
    return module.bad("rows of " + std::to_string(words) +
                      " words fit neither weight_shape nor the bits that the config names");
  }

  Result<void> bytes(const Module& module) {
    MORTISE_CHECK(module.check_matrix(module.codes()));
    const bool is_int = std::string_view(module.codes().dtype->element) == "i8";
    return add(module, is_int ? Kind::int8 : Kind::fp8, module.codes().size(0), module.codes().size(1));
  }

 private:
  /// The columns that `weight_shape` holds; 0 where it is absent or lies behind the file's end.
  Result<uint64_t> stored_columns(const Module& module) const {
    const RawTensor* shape = module.find(".weight_shape");
    if (shape == nullptr) return uint64_t{0};
    const std::string_view element = shape->dtype->element;
    if (!shape->has_shape({2}) || (element != "i64" && element != "i32"))
      return module.bad("its weight_shape is not two whole numbers");
    const mortise_bytes data = folder_.data(*shape);
    if (data.data == nullptr) return uint64_t{0};
    int64_t sizes[2];
    for (int d = 0; d < 2; ++d) {
      int32_t narrow;
      std::memcpy(&narrow, data.data + d * sizeof(narrow), sizeof(narrow));
      sizes[d] = narrow;
    }
    if (element == "i64") std::memcpy(sizes, data.data, sizeof(sizes));
    if (sizes[0] != static_cast<int64_t>(module.codes().size(0)) || sizes[1] <= 0 || sizes[1] > INT32_MAX)
      return module.bad("its weight_shape is [" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) +
                        "]; the file is damaged");
    return static_cast<uint64_t>(sizes[1]);
  }

  Result<const RawTensor*> scales_of(const Module& module) const {
    const RawTensor* inverse = module.find(".weight_scale_inv");  // a factor all the same
    if (inverse == nullptr) {
      MORTISE_TRY(scales, module.need(".weight_scale"));
      inverse = scales;
    }
    if (inverse->rank > 2) return module.bad("its scales have more than two dimensions");
    return inverse;
  }

  /// The group of the config that the scales' shape fits.
  Result<Reach> reach_of(const Module& module, const RawTensor& scales, uint64_t out, uint64_t in) const {
    const auto shape = scale_shape(scales);
    for (const Reach& reach : config_.reaches)
      if (shape[0] == divide_up(out, reach.rows_of(out)) && shape[1] == divide_up(in, reach.columns_of(in)))
        return reach;
    return module.bad("scales of shape [" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) +
                      "] for a weight of [" + std::to_string(out) + ", " + std::to_string(in) +
                      "] fit no strategy that the config names");
  }

  Result<void> add(const Module& module, Kind kind, uint64_t out, uint64_t in) {
    MORTISE_TRY(scales, scales_of(module));
    MORTISE_TRY(reach, reach_of(module, *scales, out, in));
    const uint64_t group = reach.columns_of(in);
    MORTISE_TRY(index, module.group_index(".weight_g_idx", in, group, true, true));
    std::vector<hf::PlaneSpec> planes = {plane("codes", module.codes()), plane("scales", *scales)};
    if (const RawTensor* zeros = module.find(".weight_zero_point")) planes.push_back(plane("zeros", *zeros));
    if (index != nullptr) planes.push_back(plane("group_index", *index));
    const uint64_t shape[] = {out, in};
    const mortise_attr params[] = {hf::int_param("bits", bits_of(kind)),
                                   hf::int_param("group_size", static_cast<int64_t>(group)),
                                   hf::int_param("group_rows", static_cast<int64_t>(reach.rows_of(out)))};
    out_->add(module.prefix() + kWeight, kTables[static_cast<size_t>(kind)].id, shape, planes, params);
    const Result<void> checked = validate(*out_->at(out_->size() - 1), kind);
    return checked ? checked : module.bad(checked.error().message);
  }

  const Folder& folder_;
  const Config& config_;
  hf::TensorList* out_;
};

/// The module's prefix where `raw` is one of its lesser parts.
std::string_view part_of(const RawTensor& raw) {
  for (const char* suffix :
       {".weight_scale", ".weight_scale_inv", ".weight_zero_point", ".weight_g_idx", ".weight_shape"})
    if (const std::string_view prefix = prefix_of(raw.name, suffix); !prefix.empty()) return prefix;
  return {};
}

/// Says what the model asks for and does not get.
void note_unused(const Folder& folder) {
  const auto says = [&](std::string_view what, const char* line) {
    for (uint64_t i = 0; i < folder.metadata().size(); ++i) {
      const std::string& key = folder.metadata().at(i).key;
      if (key.rfind("quantization_config.", 0) != 0 || key.find(what) == std::string::npos) continue;
      return folder.host().log(MORTISE_LOG_INFO, line);
    }
  };
  says("_activations.", "activations are not quantized, though the model's config asks for it");
  says("activation_scheme", "activations are not quantized, though the model's config asks for it");
  says(".kv_cache_scheme.", "the KV cache has the pipeline's type, though the model's config names another");
}

/// A scale beside a weight of plain floats means that the weight is yet to be rounded, which is not done
/// here.
Result<void> check_owner(const Module& module) {
  if (module.find(kPacked) != nullptr) return {};
  MORTISE_TRY(weight, module.need(kWeight));
  if (is_bytes(*weight)) return {};
  return module.bad("its weight is stored as " + std::string(weight->dtype->name) +
                    ", not compressed; save the model compressed");
}

}  // namespace

Result<void> Scheme::compose(const Folder& folder, hf::TensorList* out) {
  MORTISE_TRY(config, read_config(folder));
  note_unused(folder);
  Composer composer(folder, config, out);
  for (const RawTensor* raw : folder.tensors()) {
    if (const std::string_view prefix = prefix_of(raw->name, kPacked); !prefix.empty()) {
      MORTISE_CHECK(composer.packed(Module(folder, prefix, *raw)));
    } else if (is_bytes(*raw)) {
      MORTISE_CHECK(composer.bytes(Module(folder, prefix_of(raw->name, kWeight), *raw)));
    } else if (const std::string_view owner = part_of(*raw); !owner.empty()) {
      MORTISE_CHECK(check_owner(Module(folder, owner, *raw)));
    } else {
      out->add_stored(*raw);
    }
  }
  return {};
}

}  // namespace compressed_tensors
