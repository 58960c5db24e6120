// ELF reading: every way in which a file is no whole shared library for this machine has its own reason.
// Thread rule: one thread. Flow: bytes of a good plugin, changed in one place -> refusal.
#include "loader/elf.h"

#include <elf.h>

#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "support.h"

using namespace mortise;
using namespace mortise::test;
using Catch::Matchers::Contains;

namespace {

const std::string& good_bytes() {
  static const std::string bytes = read_bytes(fault("good"));
  return bytes;
}

Elf64_Ehdr& header(std::string& bytes) { return *reinterpret_cast<Elf64_Ehdr*>(bytes.data()); }

Elf64_Phdr& segment(std::string& bytes, uint32_t type) {
  auto* const all = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header(bytes).e_phoff);
  for (int i = 0; i < header(bytes).e_phnum; ++i) {
    if (all[i].p_type == type) return all[i];
  }
  FAIL("no such segment");
  return all[0];
}

std::string refusal_of(const std::function<void(std::string&)>& change) {
  const Folder folder;
  std::string bytes = good_bytes();
  change(bytes);
  return refusal(folder.write("x.so", bytes));
}

Elf64_Nhdr& manifest_note(std::string& bytes) {
  const size_t owner = bytes.find(std::string("Mortise\0abi=", 12));
  REQUIRE(owner != std::string::npos);
  return *reinterpret_cast<Elf64_Nhdr*>(bytes.data() + owner - sizeof(Elf64_Nhdr));
}

}  // namespace

TEST_CASE("loader elf: a good plugin is read") {
  const PluginFile file = accepted(fault("good"));
  CHECK(file.manifest.id == "fault.good");
  REQUIRE(file.manifest.provides.size() == 1);
  CHECK(file.manifest.provides[0].text() == "sampler:good");
  CHECK(std::find(file.needed.begin(), file.needed.end(), "libc.so.6") != file.needed.end());
}

TEST_CASE("loader elf: each kind of foreign file has its own reason") {
  struct Case {
    std::string part_of_reason;
    std::function<void(std::string&)> change;
  };
  const Case cases[] = {
      {"empty", [](std::string& b) { b.clear(); }},
      {"text file", [](std::string& b) { b = "a poem\nof two lines\n"; }},
      {"not an ELF", [](std::string& b) { b = std::string("\0\1\2\3", 4); }},
      {"32-bit", [](std::string& b) { b[EI_CLASS] = ELFCLASS32; }},
      {"big-endian", [](std::string& b) { b[EI_DATA] = ELFDATA2MSB; }},
      {"aarch64", [](std::string& b) { header(b).e_machine = EM_AARCH64; }},
      {"machine 9999", [](std::string& b) { header(b).e_machine = 9999; }},
      {"an object file", [](std::string& b) { header(b).e_type = ET_REL; }},
      {"a program", [](std::string& b) { header(b).e_type = ET_EXEC; }},
      {"type 4", [](std::string& b) { header(b).e_type = ET_CORE; }},
      {"truncated", [](std::string& b) { b.resize(b.size() / 2); }},
      {"identification", [](std::string& b) { b[EI_VERSION] = 9; }},
      {"0 program headers", [](std::string& b) { header(b).e_phnum = 0; }},
      {"without the Mortise note", [](std::string& b) { segment(b, PT_NOTE).p_type = PT_NULL; }},
      {"no dynamic section", [](std::string& b) { segment(b, PT_DYNAMIC).p_type = PT_NULL; }},
      {"aligned", [](std::string& b) { segment(b, PT_LOAD).p_vaddr += 8; }},
      {"address space", [](std::string& b) { segment(b, PT_LOAD).p_memsz = uint64_t{1} << 40; }},
      {"notes are damaged", [](std::string& b) { manifest_note(b).n_descsz = 0xffffffff; }},
      {"has type 2", [](std::string& b) { manifest_note(b).n_type = 2; }},
  };
  std::set<std::string> reasons;
  for (const Case& one : cases) {
    INFO(one.part_of_reason);
    const std::string reason = refusal_of(one.change);
    CHECK_THAT(reason, Contains(one.part_of_reason));
    CHECK(reasons.insert(reason).second);
  }
}

TEST_CASE("loader elf: offsets that wrap around or point behind the file are refused") {
  CHECK_THAT(refusal_of([](std::string& b) { header(b).e_phoff = UINT64_MAX - 8; }),
             Contains("program headers"));
  CHECK_THAT(refusal_of([](std::string& b) { header(b).e_shoff = UINT64_MAX - 8; }),
             Contains("section headers"));
  CHECK_THAT(refusal_of([](std::string& b) { segment(b, PT_LOAD).p_offset = UINT64_MAX & ~uint64_t{4095}; }),
             Contains("segments"));
  CHECK_THAT(refusal_of([](std::string& b) { segment(b, PT_NOTE).p_filesz = uint64_t{1} << 62; }),
             Contains("segments"));
  CHECK_THAT(refusal_of([](std::string& b) { segment(b, PT_DYNAMIC).p_vaddr = uint64_t{1} << 62; }),
             Contains("dynamic section"));
}

TEST_CASE("loader elf: a file cut at any 64th byte is refused") {
  const Folder folder;
  REQUIRE(good_bytes().size() > 4096);
  for (size_t size = 0; size < good_bytes().size(); size += 64) {
    INFO(size);
    CHECK(refusal(folder.write("x.so", good_bytes().substr(0, size))) != "");
  }
}

TEST_CASE("loader elf: random damage to headers, notes and dynamic section is read or refused") {
  const Folder folder;
  const uint32_t seed = 20240611;
  INFO("seed " << seed);
  std::mt19937 chance(seed);
  std::string bytes = good_bytes();
  const Elf64_Phdr dynamic = segment(bytes, PT_DYNAMIC);
  const size_t sections = header(bytes).e_shoff;
  const std::pair<size_t, size_t> ranges[] = {
      {0, 1024}, {dynamic.p_offset, dynamic.p_offset + dynamic.p_filesz}, {sections, bytes.size()}};
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto [begin, end] = ranges[i % 3];
    std::string damaged = bytes;
    for (int flips = 0; flips <= i % 4; ++flips) {
      damaged[begin + chance() % (end - begin)] ^= static_cast<char>(1 << chance() % 8);
    }
    refused += refusal(folder.write("x.so", damaged)).empty() ? 0 : 1;
  }
  CHECK(refused > 500);
}

TEST_CASE("loader elf: a library without the note and a program are told apart") {
  CHECK_THAT(refusal(fault("plain_library")), Contains("plain library without the Mortise note"));
  const auto self = host_binary();
  REQUIRE(self.has_value());
  CHECK_THAT(refusal(*self), Contains("a program, not a shared library"));
}
