// Opens models with a built plugin as the host does and writes what it sees: tensors as JSON lines, decoded
// rows as floats. Usage: planar_dump PLUGIN.so OUT < lines of MODEL or "header MODEL"; for each one line "ok
// OUT.N" or "error TEXT". Thread rule: one thread. Flow: driven by the Python tests of this folder.
#include <dlfcn.h>
#include <mortise/format.h>
#include <mortise/plugin.h>
#include <mortise/weights.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "sdk/fake_host.h"

namespace {

const mortise_weights* weights_table = nullptr;
std::map<std::string, const mortise_format*> formats;
void* opener = nullptr;

bool load(const mortise_host* host, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::cerr << dlerror() << "\n", false;
  auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
  for (uint32_t i = 0; i < entry()->part_count; ++i) {
    const mortise_part& part = *entry()->parts[i];
    if (std::string_view(part.kind) == "weights") {
      weights_table = static_cast<const mortise_weights*>(part.table);
      mortise_error error = mortise::c_error();
      if (part.create(host, nullptr, &opener, &error) != MORTISE_OK) return false;
    } else {
      const auto* format = static_cast<const mortise_format*>(part.table);
      formats[format->id] = format;
    }
  }
  return weights_table != nullptr;
}

void describe(const mortise_tensor& tensor, std::ostream& out) {
  out << "{\"name\": \"" << mortise::view(tensor.name) << "\", \"format\": \"" << tensor.format
      << "\", \"shape\": [";
  for (uint32_t d = 0; d < tensor.rank; ++d) out << (d == 0 ? "" : ", ") << tensor.shape[d];
  out << "], \"planes\": [";
  for (uint32_t p = 0; p < tensor.plane_count; ++p)
    out << (p == 0 ? "\"" : ", \"") << tensor.planes[p]->role << "\"";
  out << "], \"params\": {";
  for (uint32_t p = 0; p < tensor.param_count; ++p)
    out << (p == 0 ? "\"" : ", \"") << tensor.params[p]->name << "\": " << tensor.params[p]->i;
  out << "}}\n";
}

/// All rows at once, checked against the same rows in pieces of odd sizes.
bool decode(const mortise_test::FakeHost& host, const mortise_format& format, const mortise_tensor& tensor,
            std::ostream& out) {
  std::vector<const void*> planes;
  for (uint32_t p = 0; p < tensor.plane_count; ++p)
    planes.push_back(host.file(tensor.planes[p]->file) + tensor.planes[p]->offset);
  const uint64_t rows = tensor.shape[0], k = tensor.shape[1];
  std::vector<float> whole(rows * k), piece;
  format.decode_rows(nullptr, &tensor, planes.data(), 0, rows, whole.data());
  for (uint64_t row = 0, count = 1; row < rows; row += count, count = count % 11 + 2) {
    count = std::min(count, rows - row);
    piece.assign(count * k, 0.0f);
    format.decode_rows(nullptr, &tensor, planes.data(), row, count, piece.data());
    if (std::memcmp(piece.data(), &whole[row * k], piece.size() * sizeof(float)) != 0) return false;
  }
  out.write(reinterpret_cast<const char*>(whole.data()),
            static_cast<std::streamsize>(whole.size() * sizeof(float)));
  return true;
}

std::string dump(const mortise_test::FakeHost& host, const std::string& path, bool header_only,
                 const std::string& to) {
  mortise_error error = mortise::c_error();
  void* model = nullptr;
  const uint32_t flags = header_only ? MORTISE_OPEN_HEADER_ONLY : 0;
  const mortise_status status = weights_table->open(opener, mortise::str(path), flags, &model, &error);
  if (status != MORTISE_OK) return "error " + mortise::from_c(status, error).text();
  std::ofstream list(to + ".jsonl"), floats(to + ".f32", std::ios::binary);
  std::string answer = "ok " + to;
  for (uint64_t i = 0; i < weights_table->tensor_count(opener, model); ++i) {
    const mortise_tensor& tensor = *weights_table->tensor(opener, model, i);
    describe(tensor, list);
    const auto format = formats.find(tensor.format);
    if (format == formats.end()) continue;
    const mortise_status valid = format->second->validate(nullptr, &tensor, &error);
    if (valid != MORTISE_OK)
      answer = "error validate: " + mortise::from_c(valid, error).text();
    else if (!header_only && !decode(host, *format->second, tensor, floats))
      answer = "error pieces of rows differ from all rows: " + std::string(mortise::view(tensor.name));
  }
  weights_table->close(opener, model);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  const mortise_test::FakeHost host_of_plugin;
  if (argc != 3 || !load(host_of_plugin.c(), argv[1])) return 2;
  std::string line;
  for (uint64_t n = 0; std::getline(std::cin, line); ++n) {
    const bool header_only = line.rfind("header ", 0) == 0;
    std::cout << dump(host_of_plugin, header_only ? line.substr(7) : line, header_only,
                      std::string(argv[2]) + "." + std::to_string(n))
              << std::endl;
  }
}
