// The manifest's ELF note: where the text that describes a plugin lies.
// Thread rule: pure function. Flow: bytes of a note segment (elf.h) -> manifest text (manifest.h).
#pragma once
#include <mortise/cpp/result.h>

#include <optional>
#include <string>
#include <string_view>

namespace mortise {

/// The text of the note with owner "Mortise" and type 1 among the `notes` of one segment, whose entries are
/// padded to `align` bytes (4 or 8); nothing where there is none. Errors: bad_data (a note reaches past the
/// end, two manifests), unsupported (another type), limit (longer than MORTISE_MANIFEST_BYTES_MAX). Layout:
/// System V ABI, gabi 4.1, "Note Section".
Result<std::optional<std::string>> read_manifest_note(std::string_view notes, uint64_t align,
                                                      const std::string& where);

}  // namespace mortise
