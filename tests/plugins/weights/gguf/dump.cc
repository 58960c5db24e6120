// Prints the headers of GGUF files, one line of JSON a file, for the comparison with the Python package.
// Strings are in hex, so that the test compares bytes. Thread rule: single-threaded. Flow:
// differential_test.py runs it.
#include <cstdio>

#include "writer.h"

namespace {

std::string hex(std::string_view bytes) {
  std::string out = "\"";
  char digits[3];
  for (char c : bytes) {
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += digits;
  }
  return out + "\"";
}

std::string text(double value) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%.17g", value);
  return digits;
}

std::string value_text(const gguf::File& file, const gguf::Entry& entry) {
  const auto value = gguf::Value::of(file, entry);
  if (!value) return "\"" + value.error().message + "\"";
  const mortise_meta meta = value->meta();
  std::string out;
  for (size_t i = 0; i < meta.count; ++i) {
    if (i != 0) out += ",";
    if (meta.type == MORTISE_STRING)
      out += hex(mortise::view(static_cast<const mortise_str*>(meta.data)[i]));
    else if (meta.type == MORTISE_FLOAT)
      out += text(static_cast<const double*>(meta.data)[i]);
    else
      out += std::to_string(static_cast<const int64_t*>(meta.data)[i]);
  }
  return "[" + std::to_string(meta.is_array) + ",[" + out + "]]";
}

void dump(const char* path) {
  const std::string bytes = gguf_test::read_bytes(path);
  const auto file = gguf_test::parse(bytes);
  if (!file) {
    std::printf("{\"error\":%s}\n", hex(file.error().text()).c_str());
    return;
  }
  std::string out = "{\"version\":" + std::to_string(file->version) + ",\"meta\":[";
  for (const gguf::Entry& entry : file->entries)
    out += "[" + hex(entry.key) + "," + value_text(*file, entry) + "],";
  if (out.back() == ',') out.pop_back();
  out += "],\"tensors\":[";
  for (const gguf::Tensor& tensor : file->tensors) {
    out += "[" + hex(tensor.name) + ",\"" + std::string(tensor.type->name) + "\",[";
    for (uint32_t i = 0; i < tensor.dims; ++i) out += (i == 0 ? "" : ",") + std::to_string(tensor.sizes[i]);
    out += "]," + std::to_string(tensor.offset) + "," + std::to_string(tensor.bytes) + "],";
  }
  if (out.back() == ',') out.pop_back();
  std::printf("%s]}\n", out.c_str());
}

}  // namespace

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) dump(paths[i]);
  return 0;
}
