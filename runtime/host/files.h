// Model files as read-only mappings: the one seam to the OS for them, which tests replace.
// Thread rule: any thread. Flow: behind the host table's map_file; the loader of the model reads planes
// through the handles and lets pages go once they are packed.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace mortise {

constexpr size_t kMappedFilesMax = 4096;  // of one pipeline
constexpr size_t kFilePathBytesMax = 4095;

class Files {
 public:
  struct Mapping {
    uint32_t file = 0;  ///< the handle, counted from 0
    const uint8_t* data = nullptr;
    uint64_t size_bytes = 0;
    std::string path;  ///< as first asked for
  };

  virtual ~Files() = default;
  /// The same path, or another name of the same file, gives the same mapping, which lives as long as this
  /// object. Errors name the path: not found, no permission, a directory, not a regular file, empty, over a
  /// limit.
  virtual Result<const Mapping*> map(const std::string& path) = 0;
  /// The mapping of a handle that map gave; null for any other number.
  virtual const Mapping* find(uint32_t file) const = 0;
  /// The bytes will not be read soon: their whole pages are let go, so that packed weights are not held
  /// twice. The part of the range behind the file's end is ignored.
  virtual void release(uint32_t file, uint64_t offset, uint64_t length) const = 0;
};

/// Files of the operating system. A file that shrinks while it is mapped ends the process with SIGBUS, as
/// with every mapping: model files are replaced by renaming, never rewritten in place.
class MappedFiles final : public Files {
 public:
  MappedFiles() = default;
  ~MappedFiles() override;
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;

  Result<const Mapping*> map(const std::string& path) override;
  const Mapping* find(uint32_t file) const override;
  void release(uint32_t file, uint64_t offset, uint64_t length) const override;

 private:
  Result<const Mapping*> map_descriptor(const std::string& path, int descriptor);

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Mapping>> mappings_;
  std::map<std::string, uint32_t> by_path_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> by_inode_;  // (device, inode)
};

}  // namespace mortise
