// Models in parts: any part opens all of them, and what does not belong together is refused by name.
// Thread rule: single-threaded. Flow: tests plugins/weights/gguf/split.cc, with files in memory.
#include "split.h"

#include <catch2/catch.hpp>
#include <map>

#include "writer.h"

using gguf::Part;
using gguf::ValueType;
using gguf_test::Writer;

namespace {

/// A part of one F32 tensor, called `tensor`; `count` 0 leaves the keys of a split out.
std::string part(int number, int count, int tensors, const std::string& tensor) {
  Writer w;
  w.counts(1, count == 0 ? 1 : 4).key("general.architecture", ValueType::string).string("llama");
  if (count != 0) {
    w.key("split.no", ValueType::u16).put<uint16_t>(static_cast<uint16_t>(number));
    w.key("split.count", ValueType::u16).put<uint16_t>(static_cast<uint16_t>(count));
    w.key("split.tensors.count", ValueType::i32).put<int32_t>(tensors);
  }
  w.tensor(tensor, {8}, 0, 0).pad().data(32);
  return w.bytes;
}

/// Files by path, numbered in the order in which they are opened.
struct Folder {
  std::map<std::string, std::string> files;
  std::vector<std::string> opened;
  bool header_only = false;

  mortise::Result<std::vector<Part>> open(const std::string& path) {
    return gguf::open_parts(path, [&](const std::string& name) -> mortise::Result<Part> {
      const auto at = files.find(name);
      if (at == files.end()) return mortise::fail(mortise::Code::io, name, "does not exist; check the path");
      const auto* data = reinterpret_cast<const uint8_t*>(at->second.data());
      MORTISE_TRY(file, gguf::read_file(data, at->second.size(), name, header_only));
      opened.push_back(name);
      return Part{std::move(file), static_cast<uint32_t>(opened.size())};
    });
  }
};

Folder three_parts() {
  Folder out;
  out.files = {{"d/m-00001-of-00003.gguf", part(0, 3, 3, "a")},
               {"d/m-00002-of-00003.gguf", part(1, 3, 3, "b")},
               {"d/m-00003-of-00003.gguf", part(2, 3, 3, "c")}};
  return out;
}

}  // namespace

TEST_CASE("any part of a split opens all, in their order, each once") {
  for (const char* path : {"d/m-00001-of-00003.gguf", "d/m-00002-of-00003.gguf", "d/m-00003-of-00003.gguf"}) {
    Folder folder = three_parts();
    const auto parts = folder.open(path);
    INFO(path << (parts ? "" : " " + parts.error().text()));
    REQUIRE(parts);
    REQUIRE(parts->size() == 3);
    CHECK(folder.opened.size() == 3);
    const char* const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; ++i) {
      CHECK((*parts)[i].file.find_tensor(names[i]) != nullptr);
      CHECK(folder.opened[(*parts)[i].handle - 1] == (*parts)[i].file.where);
    }
  }
}

TEST_CASE("a file without a split, or of a split into one, stands alone under any name") {
  Folder folder;
  folder.files = {{"m.gguf", part(0, 1, 1, "a")}, {"x-00001-of-00003.gguf", part(0, 0, 0, "a")}};
  for (const char* path : {"m.gguf", "x-00001-of-00003.gguf"}) {
    const auto parts = folder.open(path);
    REQUIRE(parts);
    CHECK(parts->size() == 1);
  }
}

TEST_CASE("parts that end after their headers open where that is asked for") {
  Folder folder = three_parts();
  for (auto& [name, bytes] : folder.files) bytes.resize(bytes.size() - 32);
  CHECK_FALSE(folder.open("d/m-00002-of-00003.gguf"));
  folder.header_only = true;
  const auto parts = folder.open("d/m-00002-of-00003.gguf");
  REQUIRE(parts);
  for (const Part& part : *parts) CHECK(part.file.header_only);
}

TEST_CASE("splits that are not whole are refused, naming file, part and key") {
  const std::string first = "d/m-00001-of-00003.gguf", second = "d/m-00002-of-00003.gguf";
  struct Row {
    std::string name;   // of the file that is changed
    std::string bytes;  // "" removes it
    std::string message, where;
  };
  const Row rows[] = {
      {second, "", "part 2 of 3 of the model: does not exist", second},
      {second, part(2, 3, 3, "b"), "split.no is 2, not 1", second},
      {second, part(1, 4, 3, "b"), "split.count is 4, not 3", second},
      {second, part(1, 3, 4, "b"), "split.tensors.count is 4, not 3", second},
      {second, part(0, 0, 0, "b"), "split.no is missing", second},
      {second, part(1, 3, 3, "a"), "tensor \"a\" is also in d/m-00001-of-00003.gguf", second},
      {first, part(0, 2, 3, "a"), "its name must end in -00001-of-00002.gguf", first},
      {first, part(1, 3, 3, "a"), "its name must end in -00002-of-00003.gguf", first},
      {first, part(3, 3, 3, "a"), "split.no is 3 in a split of 3", first},
      {first, part(0, 1025, 3, "a"), "split.count is 1025, above the limit of 1024", first},
  };
  for (const Row& row : rows) {
    Folder folder = three_parts();
    folder.files[row.name] = row.bytes;
    if (row.bytes.empty()) folder.files.erase(row.name);
    const auto parts = folder.open(first);
    INFO(row.message);
    REQUIRE_FALSE(parts);
    CHECK(parts.error().message.find(row.message) != std::string::npos);
    CHECK(parts.error().where == row.where);
  }
}

TEST_CASE("a count of tensors that the parts do not hold is refused") {
  Folder folder = three_parts();
  int number = 0;
  for (auto& [name, bytes] : folder.files) {
    bytes = part(number, 3, 7, std::string(1, static_cast<char>('a' + number)));
    ++number;
  }
  const auto parts = folder.open("d/m-00002-of-00003.gguf");
  REQUIRE_FALSE(parts);
  CHECK(parts.error().message.find("split.tensors.count is 7, but the parts hold 3") != std::string::npos);
}

TEST_CASE("keys of a split of another type, or negative, are refused at the value") {
  for (int kind = 0; kind < 2; ++kind) {
    Writer w;
    w.counts(0, 1);
    if (kind == 0) w.key("split.count", ValueType::string).string("3");
    if (kind == 1) w.key("split.count", ValueType::i32).put<int32_t>(-3);
    Folder folder;
    folder.files = {{"m.gguf", w.bytes}};
    const auto parts = folder.open("m.gguf");
    REQUIRE_FALSE(parts);
    CHECK(parts.error().offset == 24 + 8 + 11 + 4);
    CHECK(parts.error().message.find("split.count") != std::string::npos);
  }
}
