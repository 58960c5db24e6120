// The manifest's ELF note; see note.h. Thread rule: pure function. Flow: bytes of a note segment -> manifest
// text.
#include "loader/note.h"

#include <elf.h>
#include <fmt/format.h>
#include <mortise/cpp/reader.h>
#include <mortise/plugin.h>

#include <algorithm>

namespace mortise {
namespace {

struct Note {
  uint32_t type = 0;
  std::string_view owner;  // with its zero byte
  std::string_view text;
};

Result<Note> read_note(Reader& reader, uint64_t align) {
  const auto padded = [align](uint64_t count) { return (count + align - 1) / align * align; };
  MORTISE_TRY(owner_bytes, reader.read<uint32_t>("its note's header"));
  MORTISE_TRY(text_bytes, reader.read<uint32_t>("its note's header"));
  MORTISE_TRY(type, reader.read<uint32_t>("its note's header"));
  MORTISE_TRY(owner, reader.take(owner_bytes, "its note's owner"));
  // Both paddings end at a multiple of `align` in the segment: the 12 bytes of the header count, which
  // matters for 8.
  const uint64_t text_at = padded(reader.offset());
  MORTISE_CHECK(reader.seek(text_at, "its note's text"));
  MORTISE_TRY(text, reader.take(text_bytes, "its note's text"));
  // The padding of the last note may be missing.
  const uint64_t end = reader.offset() + reader.left();
  MORTISE_CHECK(reader.seek(std::min(padded(reader.offset()), end), "its next note"));
  return Note{type, owner, text};
}

}  // namespace

Result<std::optional<std::string>> read_manifest_note(std::string_view notes, uint64_t align,
                                                      const std::string& where) {
  constexpr std::string_view owner{MORTISE_NOTE_OWNER, sizeof(MORTISE_NOTE_OWNER)};
  Reader reader(reinterpret_cast<const uint8_t*>(notes.data()), notes.size(), where);
  std::optional<std::string> manifest;
  while (reader.left() > 0) {
    const auto note = read_note(reader, align);
    if (!note) return fail(Code::bad_data, where, "its notes are damaged: " + note.error().message);
    if (note->owner != owner) continue;
    if (note->type != MORTISE_NOTE_TYPE) {
      return fail(
          Code::unsupported, where,
          fmt::format("its note has type {}, but this host reads type {}; update the host or rebuild it",
                      note->type, MORTISE_NOTE_TYPE));
    }
    if (note->text.size() > MORTISE_MANIFEST_BYTES_MAX) {
      return fail(Code::limit, where,
                  fmt::format("its manifest has {} bytes, more than {}; shorten it", note->text.size(),
                              MORTISE_MANIFEST_BYTES_MAX));
    }
    if (manifest)
      return fail(Code::bad_data, where, "two manifest notes in one file; use MORTISE_PLUGIN once");
    manifest = std::string(note->text.substr(0, note->text.find('\0')));
  }
  return manifest;
}

}  // namespace mortise
