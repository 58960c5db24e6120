// The plugin's registration, through its built .so: a weights part that reads and writes, and a format part
// for each element type. Thread rule: single-threaded. Flow: tests plugins/weights/safetensors/plugin.cc.
#include <dlfcn.h>
#include <mortise/format.h>
#include <mortise/plugin.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "hf/dtypes.h"

TEST_CASE("the safetensors plugin offers the weights part and a format for each element type") {
  void* library =
      dlopen(MORTISE_TEST_BUILD "/lib/mortise/mortise-weights-safetensors.so", RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? dlerror() : ""));
  REQUIRE(library != nullptr);
  auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
  REQUIRE(entry != nullptr);
  const mortise_plugin& plugin = *entry();
  std::set<std::string> parts;
  for (uint32_t i = 0; i < plugin.part_count; ++i) {
    const mortise_part& part = *plugin.parts[i];
    parts.insert(part.name);
    if (part.kind == std::string("weights")) {
      CHECK(static_cast<const mortise_weights*>(part.table)->write_begin != nullptr);
      continue;
    }
    const auto& format = *static_cast<const mortise_format*>(part.table);
    CHECK(format.id == std::string(part.name) + "/1");
    const std::string element = std::string(part.name).substr(std::string("safetensors.").size());
    std::string dtype = element;
    for (char& c : dtype) c = static_cast<char>(std::toupper(c));
    const auto* known = mortise::hf::find_dtype(dtype);
    if (element == "mxfp4") continue;
    INFO(element);
    REQUIRE(known != nullptr);
    CHECK(format.block_bytes * 8 == format.block_elements * known->bits);
  }
  CHECK(parts.size() == 21);
}
