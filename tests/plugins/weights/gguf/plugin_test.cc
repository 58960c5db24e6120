// The plugin's registration, through its built .so: one weights part, and a format part for each readable
// type. Thread rule: single-threaded. Flow: tests plugins/weights/gguf/plugin.cc.
#include <dlfcn.h>
#include <mortise/format.h>
#include <mortise/plugin.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "types.h"

TEST_CASE("the gguf plugin offers the weights part and a format part for each readable type") {
  void* library = dlopen(MORTISE_TEST_BUILD "/lib/mortise/mortise-weights-gguf.so", RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? dlerror() : ""));
  REQUIRE(library != nullptr);
  auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
  REQUIRE(entry != nullptr);
  const mortise_plugin& plugin = *entry();
  CHECK(plugin.abi == MORTISE_ABI);
  std::set<std::string> parts;
  for (uint32_t i = 0; i < plugin.part_count; ++i)
    parts.insert(std::string(plugin.parts[i]->kind) + ":" + plugin.parts[i]->name);
  CHECK(parts.count("weights:gguf") == 1);
  size_t readable = 0;
  for (uint32_t number = 0; gguf::find_type(number) != nullptr; ++number) {
    const gguf::Type& type = *gguf::find_type(number);
    if (!type.readable()) continue;
    ++readable;
    const std::string id = type.format;
    const auto part =
        std::find_if(plugin.parts, plugin.parts + plugin.part_count, [&](const mortise_part* p) {
          return std::string(p->kind) == "format" && std::string(p->name) + "/1" == id;
        });
    INFO(id);
    REQUIRE(part != plugin.parts + plugin.part_count);
    const auto& table = *static_cast<const mortise_format*>((*part)->table);
    CHECK(table.id == id);
    CHECK(table.block_elements == type.block_weights);
    CHECK(table.block_bytes == type.block_bytes);
  }
  CHECK(parts.size() == readable + 1);
}
