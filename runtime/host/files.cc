// Mapping model files.
// Thread rule: see files.h. Flow: open, look at what it is, map, close; the mapping outlives the descriptor.
#include "host/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "host/memory.h"

namespace mortise {
namespace {

std::string system_text(int number) { return std::generic_category().message(number); }

tl::unexpected<Error> open_error(const std::string& path, int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return fail(Code::not_found, path, "no such file; check the path");
    case EACCES:
    case EPERM:
      return fail(Code::io, path, "permission denied; make the file readable for this user");
    default:
      return fail(Code::io, path,
                  "cannot be opened: " + system_text(number) + "; check the file and its disk");
  }
}

}  // namespace

MappedFiles::~MappedFiles() {
  for (const auto& mapping : mappings_) munmap(const_cast<uint8_t*>(mapping->data), mapping->size_bytes);
}

Result<const Files::Mapping*> MappedFiles::map(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_path_.find(path); known != by_path_.end()) return mappings_[known->second].get();
  if (path.empty()) return fail(Code::bad_argument, "path", "is empty; name a file");
  if (path.size() > kFilePathBytesMax || path.find('\0') != std::string::npos)
    return fail(
        Code::limit, path.substr(0, 64),
        "is no path: over " + std::to_string(kFilePathBytesMax) + " bytes, or with a zero byte; name a file");
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return open_error(path, errno);
  auto mapped = map_descriptor(path, descriptor);
  close(descriptor);
  return mapped;
}

Result<const Files::Mapping*> MappedFiles::map_descriptor(const std::string& path, int descriptor) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0) return open_error(path, errno);
  if (S_ISDIR(info.st_mode)) return fail(Code::io, path, "is a directory; name a file");
  if (!S_ISREG(info.st_mode)) return fail(Code::io, path, "is not a regular file; name one");
  const auto inode = std::make_pair(static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino));
  if (const auto known = by_inode_.find(inode); known != by_inode_.end()) {
    by_path_[path] = known->second;
    return mappings_[known->second].get();
  }
  if (info.st_size <= 0) return fail(Code::bad_data, path, "is empty; fetch the file again");
  if (mappings_.size() >= kMappedFilesMax)
    return fail(
        Code::limit, path,
        "is one file too many: a pipeline maps at most " + std::to_string(kMappedFilesMax) + " files");
  const auto size = static_cast<uint64_t>(info.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED)
    return fail(errno == ENOMEM ? Code::no_memory : Code::io, path,
                "cannot be mapped: " + system_text(errno) + "; check the limits on address space");
  auto mapping = std::make_unique<Mapping>();
  mapping->file = static_cast<uint32_t>(mappings_.size());
  mapping->data = static_cast<const uint8_t*>(data);
  mapping->size_bytes = size;
  mapping->path = path;
  mappings_.push_back(std::move(mapping));
  by_path_[path] = by_inode_[inode] = mappings_.back()->file;
  return mappings_.back().get();
}

const Files::Mapping* MappedFiles::find(uint32_t file) const {
  const std::shared_lock lock(mutex_);
  return file < mappings_.size() ? mappings_[file].get() : nullptr;
}

void MappedFiles::release(uint32_t file, uint64_t offset, uint64_t length) const {
  const Mapping* mapping = find(file);
  if (mapping == nullptr || offset >= mapping->size_bytes) return;
  drop_file_pages(mapping->data + offset, std::min(length, mapping->size_bytes - offset));
}

}  // namespace mortise
