// Reads many .safetensors files from standard input, each after its length as u64, and prints one line of
// JSON a file: its tensors and metadata, or the error. Names are in hex, so that the test compares bytes.
// Thread rule: single-threaded. Flow: differential_test.py runs it.
#include <cstdio>
#include <memory>

#include "hf/header.h"

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

std::string line_of(const uint8_t* data, uint64_t size) {
  const auto header = mortise::hf::read_header(data, size, "x", 0, false);
  if (!header) return "{\"error\":" + hex(header.error().text()) + "}";
  std::string out = "{\"metadata\":{";
  for (const auto& [key, value] : header->metadata) out += hex(key) + ":" + hex(value) + ",";
  if (out.back() == ',') out.pop_back();
  out += "},\"tensors\":[";
  for (const auto& tensor : header->tensors) {
    out += "[" + hex(tensor.name) + ",\"" + std::string(tensor.dtype->name) + "\",[";
    for (uint32_t i = 0; i < tensor.rank; ++i) out += (i == 0 ? "" : ",") + std::to_string(tensor.size(i));
    out += "]," + std::to_string(tensor.offset) + "," + std::to_string(tensor.length) + "],";
  }
  if (out.back() == ',') out.pop_back();
  return out + "]}";
}

}  // namespace

int main() {
  uint64_t size = 0;
  while (std::fread(&size, sizeof(size), 1, stdin) == 1) {
    const auto bytes = std::make_unique<uint8_t[]>(size);  // of exactly this size, for a sanitizer
    if (std::fread(bytes.get(), 1, size, stdin) != size) return 1;
    std::printf("%s\n", line_of(bytes.get(), size).c_str());
  }
  return 0;
}
