// Notes: finding the manifest among other notes, in both paddings.
// Thread rule: one thread. Flow: bytes of a note segment -> text.
#include "loader/note.h"

#include "support.h"

using namespace mortise;
using Catch::Matchers::Contains;

namespace {

std::string word(uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); }

std::string padded(std::string bytes, size_t align) {
  bytes.resize((bytes.size() + align - 1) / align * align);
  return bytes;
}

std::string note(const std::string& owner, uint32_t type, const std::string& text, size_t align = 4) {
  const std::string head =
      word(static_cast<uint32_t>(owner.size())) + word(static_cast<uint32_t>(text.size()));
  return padded(padded(head + word(type) + owner, align) + text, align);
}

const std::string kGnu("GNU\0", 4);
const std::string kOwner("Mortise\0", 8);

std::string reason(const std::string& notes) {
  const auto read = read_manifest_note(notes, 4, "x.so");
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("loader note: the manifest is found among others, in both paddings") {
  for (const size_t align : {4, 8}) {
    INFO(align);
    const std::string notes = note(kGnu, 5, std::string(16, 'p'), align) + note(kGnu, 3, "idididi", align) +
                              note(kOwner, 1, std::string("abi=1\n\0", 7), align);
    const auto read = read_manifest_note(notes, align, "x.so");
    REQUIRE(read.has_value());
    CHECK(*read == "abi=1\n");
  }
}

TEST_CASE("loader note: no manifest is no error") {
  CHECK_FALSE(read_manifest_note("", 4, "x.so")->has_value());
  CHECK_FALSE(read_manifest_note(note(kGnu, 3, "id"), 4, "x.so")->has_value());
  CHECK_FALSE(read_manifest_note(note(std::string("Mortis\0", 7), 1, "abi=1"), 4, "x.so")->has_value());
}

TEST_CASE("loader note: damaged notes, another type, two manifests and a long one are refused") {
  const std::string whole = note(kOwner, 1, "abi=1\n");
  for (size_t size = 1; size < whole.size() - 2; ++size)
    CHECK_THAT(reason(whole.substr(0, size)), Contains("damaged"));
  CHECK_THAT(reason(word(0xffffffff) + word(4) + word(1) + "xxxx"), Contains("owner"));
  CHECK_THAT(reason(note(kOwner, 2, "abi=1\n")), Contains("type 2"));
  CHECK_THAT(reason(whole + whole), Contains("two manifest notes"));
  CHECK_THAT(reason(note(kOwner, 1, std::string(4097, 'x'))), Contains("4097 bytes"));
}
