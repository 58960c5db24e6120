// Fuzz target of the plugins whose tensors have several planes: opens a hub folder of config.json and
// model.safetensors, checks what was composed, and decodes small tensors, also with a group index that
// changed after it was checked. Input: a byte that chooses the plugin, config.json, a zero byte,
// model.safetensors. Thread rule: single-threaded. Flow: libFuzzer calls it with any bytes.
#include <mortise/cpp/reader.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "awq/gemm.h"
#include "awq/scheme.h"
#include "compressed_tensors/layout.h"
#include "compressed_tensors/scheme.h"
#include "gptq/packed.h"
#include "gptq/scheme.h"

namespace {

constexpr uint64_t kDecodedWeightsMax = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A host that has two files, whatever lies on the disk under their names. Buffers have the exact size, so
/// that a read behind their end is seen.
struct Files {
  mortise_host table{};
  std::unique_ptr<uint8_t[]> bytes[2];
  size_t sizes[2] = {0, 0};

  Files() {
    table.size = sizeof(table);
    table.ctx = this;
    table.log = [](void*, int32_t, mortise_str) {};
    table.map_file = &map_file;
  }
  void set(int file, const uint8_t* data, size_t size) {
    bytes[file] = std::make_unique<uint8_t[]>(size);
    std::copy(data, data + size, bytes[file].get());
    sizes[file] = size;
  }
  static mortise_status map_file(void* ctx, mortise_str path, uint32_t* file, mortise_bytes* view,
                                 mortise_error* error) {
    auto& self = *static_cast<Files*>(ctx);
    *file = mortise::view(path).ends_with("config.json") ? 0 : 1;
    if (self.sizes[*file] == 0) return mortise::to_c({mortise::Code::bad_data, "", "empty"}, error);
    *view = {self.bytes[*file].get(), self.sizes[*file]};
    return MORTISE_OK;
  }
};

/// A folder in which the two names are there, for the reader looks for them.
const std::string& folder() {
  static const std::string path = [] {
    const std::string name = (std::filesystem::temp_directory_path() / "mortise-planar-fuzz").string();
    std::filesystem::create_directories(name);
    std::ofstream(name + "/config.json") << "{}";
    std::ofstream(name + "/model.safetensors") << "x";
    return name;
  }();
  return path;
}

void decode(const Files& files, const mortise_format& format, const mortise_tensor& tensor) {
  mortise_error error = mortise::c_error();
  require(format.validate(nullptr, &tensor, &error) == MORTISE_OK);
  const uint64_t weights = tensor.shape[0] * tensor.shape[1];
  if (weights > kDecodedWeightsMax) return;
  std::vector<const void*> planes;
  for (uint32_t p = 0; p < tensor.plane_count; ++p) {
    require(tensor.planes[p]->offset + tensor.planes[p]->length <= files.sizes[1]);
    planes.push_back(files.bytes[1].get() + tensor.planes[p]->offset);
  }
  std::vector<float> out(weights);
  format.decode_rows(nullptr, &tensor, planes.data(), 0, tensor.shape[0], out.data());
  for (uint32_t p = 0; p < tensor.plane_count; ++p) {
    if (std::string_view(tensor.planes[p]->role) != "group_index") continue;
    const std::vector<uint8_t> changed(tensor.planes[p]->length, 0xfe);
    planes[p] = changed.data();
    format.decode_rows(nullptr, &tensor, planes.data(), 0, tensor.shape[0], out.data());
  }
}

void open(const Files& files, mortise::hf::Compose* compose, uint32_t flags) {
  const auto model = mortise::hf::open_model(mortise::Host(&files.table), folder(), flags, compose);
  if (!model) {
    require(!model.error().message.empty());
    require(model.error().text().find('\n') == std::string::npos);
    return;
  }
  std::vector<mortise_format> formats = {awq::kGemmTable, gptq::kInt4Table, gptq::kInt8Table};
  for (const mortise_format& table : compressed_tensors::kTables) formats.push_back(table);
  for (uint64_t i = 0; i < (*model)->tensors.size(); ++i)
    for (const mortise_format& format : formats)
      if (flags == 0 && std::string_view(format.id) == (*model)->tensors.at(i)->format)
        decode(files, format, *(*model)->tensors.at(i));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t* config = data + 1;
  const uint8_t* weights = std::find(config, data + size, uint8_t{0});
  if (weights == data + size) return 0;
  Files files;
  files.set(0, config, static_cast<size_t>(weights - config));
  files.set(1, weights + 1, static_cast<size_t>(data + size - weights - 1));
  mortise::hf::Compose* const schemes[] = {&awq::Scheme::compose, &gptq::Scheme::compose,
                                           &compressed_tensors::Scheme::compose};
  for (const uint32_t flags : {uint32_t{0}, uint32_t{MORTISE_OPEN_HEADER_ONLY}})
    open(files, schemes[data[0] % 3], flags);
  return 0;
}
