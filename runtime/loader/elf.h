// ELF reading: is this a whole shared library for this machine, and what does its note say?
// Thread rule: pure function over an open file. Flow: after the path policy, before the manifest and before
// dlopen, which trusts the headers that are checked here (a truncated library makes it die by SIGBUS).
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mortise {

struct ElfFacts {
  std::string manifest;             // the text of the note
  std::vector<std::string> needed;  // the libraries that dlopen will look for (DT_NEEDED)
};

/// Reads the headers, notes and dynamic section of the open file `fd` of `size_bytes`; `where` names it in
/// errors. Checked is what dlopen relies on: class, byte order, machine, type, every table, segment and
/// section inside the file, segments in order and aligned. Errors: bad_data (one distinct reason each),
/// unsupported (another machine), io.
Result<ElfFacts> read_elf(int fd, uint64_t size_bytes, const std::string& where);

}  // namespace mortise
