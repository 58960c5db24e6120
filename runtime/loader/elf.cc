// ELF reading; see elf.h. Thread rule: one object per call. Flow: headers, segments, sections, dynamic,
// notes. Layout: System V ABI, gabi 4.1, "Object Files" and "Dynamic Linking".
#include "loader/elf.h"

#include <elf.h>
#include <fmt/format.h>
#include <mortise/cpp/reader.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <string_view>

#include "loader/note.h"

namespace mortise {
namespace {

// Limits on what is read and believed, far above what linkers write.
constexpr uint64_t kSegmentsMax = 64;
constexpr uint64_t kSectionsMax = 65536;
constexpr uint64_t kNoteSegmentBytesMax = 64 << 10;
constexpr uint64_t kDynamicEntriesMax = 1024;
constexpr uint64_t kLibraryNameBytesMax = 256;
constexpr uint64_t kMappedBytesMax = uint64_t{4} << 30;  // address space of all segments together
constexpr uint64_t kPageBytes = 4096;

struct MachineName {
  uint16_t machine;
  std::string_view name;
};
constexpr MachineName kMachines[] = {
    {EM_386, "32-bit x86"}, {EM_ARM, "arm"},    {EM_AARCH64, "aarch64"},     {EM_RISCV, "riscv"},
    {EM_PPC64, "ppc64"},    {EM_S390, "s390x"}, {EM_LOONGARCH, "loongarch"}, {EM_MIPS, "mips"},
};

std::string machine_name(uint16_t machine) {
  for (const MachineName& known : kMachines) {
    if (known.machine == machine) return std::string(known.name);
  }
  return fmt::format("machine {}", machine);
}

class ElfReader {
 public:
  ElfReader(int fd, uint64_t size, const std::string& where) : fd_(fd), size_(size), where_(where) {}

  Result<ElfFacts> read() {
    MORTISE_CHECK(read_header());
    MORTISE_CHECK(read_segments());
    MORTISE_CHECK(check_sections());
    MORTISE_CHECK(read_dynamic());
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_NOTE) MORTISE_CHECK(read_notes(segment));
    }
    if (!manifest_) {
      return bad("a plain library without the Mortise note, not a plugin; build it with MORTISE_PLUGIN");
    }
    return ElfFacts{std::move(*manifest_), std::move(needed_)};
  }

 private:
  tl::unexpected<Error> bad(std::string message) const {
    return fail(Code::bad_data, where_, std::move(message));
  }
  tl::unexpected<Error> truncated(const std::string& what) const {
    return bad(fmt::format("truncated: {} reach past the end of the file at byte {}; copy the file again",
                           what, size_));
  }
  bool inside(uint64_t offset, uint64_t bytes) const {
    uint64_t end = 0;
    return add(offset, bytes, &end) && end <= size_;
  }

  // Bytes of the file, which the caller has found to be inside it and bounded.
  Result<std::string> bytes(uint64_t offset, uint64_t count) const {
    std::string out(count, '\0');
    uint64_t done = 0;
    while (done < count) {
      const ssize_t n = ::pread(fd_, out.data() + done, count - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return fail(Code::io, where_, "cannot be read to its end; check the disk");
      done += static_cast<uint64_t>(n);
    }
    return out;
  }

  // A table of C structs.
  template <class T>
  Result<std::vector<T>> table(uint64_t offset, uint64_t count) const {
    MORTISE_TRY(raw, bytes(offset, count * sizeof(T)));
    std::vector<T> out(count);
    std::copy_n(raw.data(), raw.size(), reinterpret_cast<char*>(out.data()));
    return out;
  }

  Result<void> read_header();
  Result<void> check_identity(const std::string& start) const;
  Result<void> read_segments();
  Result<void> check_loads() const;
  Result<void> check_sections() const;
  Result<void> read_notes(const Elf64_Phdr& segment);
  Result<void> read_dynamic();
  Result<void> read_needed(const std::vector<uint64_t>& names, uint64_t strings, uint64_t strings_bytes);
  std::optional<uint64_t> file_offset(uint64_t address, uint64_t count) const;

  const int fd_;
  const uint64_t size_;
  const std::string& where_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::optional<std::string> manifest_;
  std::vector<std::string> needed_;
};

Result<void> ElfReader::check_identity(const std::string& start) const {
  if (start.empty()) return bad("an empty file");
  if (start.compare(0, SELFMAG, ELFMAG) != 0) {
    const bool text = std::all_of(start.begin(), start.end(), [](unsigned char c) {
      return std::isprint(c) != 0 || std::isspace(c) != 0 || c >= 0x80;
    });
    return bad(
        fmt::format("{}; a plugin is an ELF shared library", text ? "a text file" : "not an ELF file"));
  }
  if (start.size() < EI_NIDENT) return truncated("its identification bytes");
  if (start[EI_CLASS] == ELFCLASS32) return bad("a 32-bit library; build it for x86-64");
  if (start[EI_DATA] == ELFDATA2MSB) return bad("a big-endian library; build it for x86-64");
  if (start[EI_CLASS] != ELFCLASS64 || start[EI_DATA] != ELFDATA2LSB || start[EI_VERSION] != EV_CURRENT) {
    return bad("damaged: its ELF identification has unknown values");
  }
  if (start.size() < sizeof(Elf64_Ehdr)) return truncated("its ELF header");
  return {};
}

Result<void> ElfReader::read_header() {
  MORTISE_TRY(start, bytes(0, std::min<uint64_t>(size_, sizeof(Elf64_Ehdr))));
  MORTISE_CHECK(check_identity(start));
  std::copy(start.begin(), start.end(), reinterpret_cast<char*>(&header_));
  if (header_.e_machine != EM_X86_64) {
    return fail(Code::unsupported, where_,
                fmt::format("built for {}, but this machine is x86-64; build it for x86-64",
                            machine_name(header_.e_machine)));
  }
  if (header_.e_type == ET_REL) return bad("an object file, not a shared library; link it with -shared");
  if (header_.e_type == ET_EXEC) return bad("a program, not a shared library; link it with -shared");
  if (header_.e_type != ET_DYN) {
    return bad(fmt::format("not a shared library (ELF type {}); link it with -shared", header_.e_type));
  }
  if (header_.e_version != EV_CURRENT || header_.e_ehsize != sizeof(Elf64_Ehdr)) {
    return bad("damaged: its ELF header has unknown values");
  }
  return {};
}

Result<void> ElfReader::read_segments() {
  if (header_.e_phnum == 0 || header_.e_phnum > kSegmentsMax || header_.e_phentsize != sizeof(Elf64_Phdr)) {
    return bad(fmt::format("damaged: {} program headers of {} bytes", header_.e_phnum, header_.e_phentsize));
  }
  if (!inside(header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr))) return truncated("its program headers");
  MORTISE_TRY(segments, table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum));
  segments_ = std::move(segments);
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NULL && !inside(segment.p_offset, segment.p_filesz))
      return truncated("its segments");
  }
  return check_loads();
}

Result<void> ElfReader::check_loads() const {
  uint64_t end = 0;
  bool any = false;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t align = segment.p_align;
    const bool aligned = align >= kPageBytes && (align & (align - 1)) == 0 &&
                         (segment.p_vaddr - segment.p_offset) % align == 0;
    if (!aligned) return bad("damaged: a segment is not aligned to pages");
    if (segment.p_filesz > segment.p_memsz)
      return bad("damaged: a segment is larger in the file than in memory");
    if (segment.p_vaddr < end) return bad("damaged: its segments overlap or are out of order");
    if (!add(segment.p_vaddr, segment.p_memsz, &end) || end > kMappedBytesMax) {
      return fail(Code::limit, where_, "damaged: its segments need more than 4 GiB of address space");
    }
    any = true;
  }
  return any ? Result<void>{} : bad("damaged: it has no segment to load");
}

// dlopen does not read sections; but they lie behind everything else, so that a cut file shows here.
Result<void> ElfReader::check_sections() const {
  if (header_.e_shoff == 0) return {};  // stripped of its section headers
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) return bad("damaged: section headers of an unknown size");
  if (header_.e_shnum > kSectionsMax || !inside(header_.e_shoff, header_.e_shnum * sizeof(Elf64_Shdr))) {
    return truncated("its section headers");
  }
  MORTISE_TRY(sections, table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum));
  for (const Elf64_Shdr& section : sections) {
    const bool in_file = section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS;
    if (in_file && !inside(section.sh_offset, section.sh_size)) return truncated("its sections");
  }
  return {};
}

Result<void> ElfReader::read_notes(const Elf64_Phdr& segment) {
  if (segment.p_filesz > kNoteSegmentBytesMax) {
    return fail(
        Code::limit, where_,
        fmt::format("its notes have {} bytes; at most {} are read", segment.p_filesz, kNoteSegmentBytesMax));
  }
  MORTISE_TRY(raw, bytes(segment.p_offset, segment.p_filesz));
  MORTISE_TRY(manifest, read_manifest_note(raw, segment.p_align == 8 ? 8 : 4, where_));
  if (manifest && manifest_) return bad("two manifest notes in one file; use MORTISE_PLUGIN once");
  if (manifest) manifest_ = std::move(manifest);
  return {};
}

// Where `count` bytes at a virtual address lie in the file.
std::optional<uint64_t> ElfReader::file_offset(uint64_t address, uint64_t count) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t at = address - segment.p_vaddr;
    if (at <= segment.p_filesz && count <= segment.p_filesz - at) return segment.p_offset + at;
  }
  return std::nullopt;
}

Result<void> ElfReader::read_dynamic() {
  const auto is_dynamic = [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; };
  const auto segment = std::find_if(segments_.begin(), segments_.end(), is_dynamic);
  if (segment == segments_.end())
    return bad("not a shared library: it has no dynamic section; link it with -shared");
  const uint64_t count = segment->p_filesz / sizeof(Elf64_Dyn);
  if (count == 0 || count > kDynamicEntriesMax || !file_offset(segment->p_vaddr, segment->p_filesz)) {
    return bad("damaged: its dynamic section lies outside its segments");
  }
  MORTISE_TRY(entries, table<Elf64_Dyn>(segment->p_offset, count));
  std::vector<uint64_t> names;
  uint64_t strings = 0, strings_bytes = 0;
  bool ended = false;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) ended = true;
    if (ended) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) {
      return bad("a program, not a shared library; link it with -shared");
    }
  }
  if (!ended) return bad("damaged: its dynamic section has no end");
  return read_needed(names, strings, strings_bytes);
}

Result<void> ElfReader::read_needed(const std::vector<uint64_t>& names, uint64_t strings,
                                    uint64_t strings_bytes) {
  const auto start = file_offset(strings, strings_bytes);
  if (!start) return bad("damaged: its dynamic string table lies outside its segments");
  for (const uint64_t name : names) {
    if (name >= strings_bytes)
      return bad("damaged: the name of a needed library lies outside the string table");
    MORTISE_TRY(raw, bytes(*start + name, std::min(strings_bytes - name, kLibraryNameBytesMax)));
    const size_t length = raw.find('\0');
    if (length == std::string::npos || length == 0)
      return bad("damaged: the name of a needed library has no end");
    needed_.push_back(raw.substr(0, length));
  }
  return {};
}

}  // namespace

Result<ElfFacts> read_elf(int fd, uint64_t size_bytes, const std::string& where) {
  return ElfReader(fd, size_bytes, where).read();
}

}  // namespace mortise
