// Fuzz target of the safetensors reader: reads a header, takes the same bytes for a config, an index and a
// tokenizer file, and checks what every reader of the result relies on. Thread rule: single-threaded. Flow:
// libFuzzer calls it with any bytes.
#include <cstdlib>
#include <string>

#include "decode.h"
#include "hf/header.h"
#include "hf/metadata.h"
#include "hf/shards.h"
#include "hf/tokenizer_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_error(const mortise::Error& error, size_t size) {
  require(error.where == "fuzz" && error.offset <= size && !error.message.empty());
  require(error.message.find('\n') == std::string::npos && error.message.size() < 4096);
}

void read(const uint8_t* data, size_t size, bool header_only) {
  const auto header = mortise::hf::read_header(data, size, "fuzz", 0, header_only);
  if (!header) return check_error(header.error(), size);
  require(header->data_start <= size && (header_only || header->has_data));
  uint64_t end = header->data_start;
  for (const auto& tensor : header->tensors) {
    require(tensor.dtype != nullptr && tensor.rank <= mortise::hf::kRankMax && tensor.offset == end);
    end += tensor.length;
    if (header->has_data && std::string_view(tensor.dtype->element) == "f8_e4m3") {
      std::vector<float> out(tensor.length);
      mortise::safetensors::decode_f8_e4m3(data + tensor.offset, tensor.length, out.data());
    }
  }
  require(!header->has_data || end == size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read(data, size, false);
  read(data, size, true);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mortise::hf::tokenizer_file_kind(text);
  mortise::hf::Metadata metadata;
  const auto added = metadata.add_json(text, "fuzz", "p.", "skip");
  if (!added) check_error(added.error(), size);
  for (uint64_t i = 0; i < metadata.size(); ++i)
    require(metadata.find(metadata.at(i).key) == &metadata.at(i) &&
            metadata.at(i).value().type <= MORTISE_STRING);
  mortise::hf::Shards shards;
  const auto indexed = mortise::hf::read_index(text, "fuzz", &shards);
  if (!indexed) check_error(indexed.error(), size);
  for (const std::string& file : shards.files) require(file.find('/') == std::string::npos && file[0] != '.');
  return 0;
}
