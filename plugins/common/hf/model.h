// What every weights plugin of hub folders shares: a list of composed tensors, and the calls of
// mortise_weights over a Folder. A plugin brings a probe score and the composing of its tensors. Thread rule:
// composed on a [load] thread, then constant and asked by any thread. Flow: plugin.cc registers
// hf::make_table<Scheme>(), the host calls it.
//
//   struct Awq {
//     static int32_t score(const hf::Glance& glance) { return glance.quant_method == "awq" ? 100 : 0; }
//     static Result<void> compose(const hf::Folder& folder, hf::TensorList* out);
//   };
//   constexpr mortise_weights kTable = hf::make_table<Awq>();
//   mortise::make_part<hf::Opener>("weights", "awq", MORTISE_WEIGHTS_ID, "…", &kTable)
#pragma once
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hf/folder.h"

namespace mortise::hf {

/// A plane of a composed tensor: a raw tensor's whole data.
struct PlaneSpec {
  const char* role;  ///< "data", "codes", "scales", "zeros", "group_index"
  const RawTensor* raw;
  std::array<uint64_t, 2> shape{};  ///< as stored; {0, 0}: the format's blocks, dtype "block"
};

/// The tensors of a model in mortise's form. Everything handed out lives as long as the list.
class TensorList {
 public:
  TensorList() = default;
  TensorList(const TensorList&) = delete;
  TensorList& operator=(const TensorList&) = delete;

  /// `shape` outermost first, of 1 to MORTISE_RANK_MAX sizes; `format` and the names in `params` are
  /// literals, or made by keep().
  void add(std::string name, const char* format, std::span<const uint64_t> shape,
           std::span<const PlaneSpec> planes, std::span<const mortise_attr> params = {});
  void add(std::string name, const char* format, std::initializer_list<uint64_t> shape,
           std::initializer_list<PlaneSpec> planes, std::initializer_list<mortise_attr> params = {}) {
    add(std::move(name), format, std::span(shape.begin(), shape.size()),
        std::span(planes.begin(), planes.size()), std::span(params.begin(), params.size()));
  }
  /// An elementwise tensor as it is stored, "safetensors.bf16/1": one number is a row of one; the outer
  /// dimensions of more than MORTISE_RANK_MAX are one.
  void add_stored(const RawTensor& raw);
  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  uint64_t size() const { return tensors_.size(); }
  /// Null behind the last.
  const mortise_tensor* at(uint64_t index) const {
    return index < tensors_.size() ? &tensors_[index] : nullptr;
  }

 private:
  std::deque<std::string> texts_;
  std::deque<mortise_plane> planes_;
  std::deque<mortise_attr> params_;
  std::deque<std::vector<const mortise_plane*>> plane_lists_;
  std::deque<std::vector<const mortise_attr*>> param_lists_;
  std::deque<mortise_tensor> tensors_;
  std::unordered_map<const Dtype*, const char*> stored_formats_;
};

inline mortise_attr int_param(const char* name, int64_t value) {
  return {name, MORTISE_INT, 1, value, 0, nullptr, nullptr};
}

/// The instance of a weights part: nothing but the host, which maps the files.
class Opener {
 public:
  Opener(Host host, const NoParams&) : host_(host) {}
  Host host() const { return host_; }

 private:
  Host host_;
};

struct Model {
  Folder folder;
  TensorList tensors;
};

using Compose = Result<void>(const Folder& folder, TensorList* out);

/// Opens `path` and composes its tensors; a folder or file with a tokenizer alone has none.
Result<std::unique_ptr<Model>> open_model(Host host, std::string_view path, uint32_t flags, Compose compose);

/// The calls that do not depend on the scheme.
struct Calls {
  static void close(void*, void* model) noexcept;
  static const char* dialect(void*, void*) noexcept;
  static mortise_status meta(void*, void* model, mortise_str key, mortise_meta* value) noexcept;
  static uint64_t meta_count(void*, void* model) noexcept;
  static mortise_status meta_at(void*, void* model, uint64_t index, mortise_str* key,
                                mortise_meta* value) noexcept;
  static mortise_status blob(void*, void* model, mortise_str name, mortise_bytes* bytes) noexcept;
  static uint64_t tensor_count(void*, void* model) noexcept;
  static const mortise_tensor* tensor(void*, void* model, uint64_t index) noexcept;
};

template <class Scheme>
constexpr mortise_weights make_table() {
  mortise_weights table{};
  table.size = sizeof(table);
  table.close = Calls::close;
  table.dialect = Calls::dialect;
  table.meta = Calls::meta;
  table.meta_count = Calls::meta_count;
  table.meta_at = Calls::meta_at;
  table.blob = Calls::blob;
  table.tensor_count = Calls::tensor_count;
  table.tensor = Calls::tensor;
  table.probe = [](void* self, mortise_str path, mortise_bytes head) noexcept -> int32_t {
    int32_t score = 0;
    guard(nullptr, [&]() -> Result<void> {
      score = Scheme::score(glance(static_cast<Opener*>(self)->host(), view(path),
                                   {reinterpret_cast<const char*>(head.data), head.size}));
      return {};
    });
    return score;
  };
  table.open = [](void* self, mortise_str path, uint32_t flags, void** model,
                  mortise_error* error) noexcept -> mortise_status {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(opened,
                  open_model(static_cast<Opener*>(self)->host(), view(path), flags, &Scheme::compose));
      *model = opened.release();
      return {};
    });
  };
  return table;
}

}  // namespace mortise::hf
