// Path policy: which files the host is willing to open as plugins.
// Thread rule: pure functions over the file system; any thread. Flow: the first check of every plugin file.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>

namespace mortise {

/// An open file, closed with the object.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// Which bytes a path led to: stays the same as long as nobody replaced or rewrote the file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;  // bytes
  int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
  /// The same file, though perhaps rewritten.
  bool same_file(const FileIdentity& other) const { return device == other.device && inode == other.inode; }
};

struct CheckedFile {
  std::string path;  // canonical: what is loaded
  FileIdentity identity;
  OpenFile file;
};

/// Opens `path` for reading where the policy allows it. A link is followed, and the file that it leads to is
/// what counts: a regular file, and it and its folder and the folder of `path`
///  - owned by this process's user, root or the owner of the host's binary;
///  - not writable by group or others (a folder with the sticky bit may be: there nobody replaces another's
///  file).
/// Errors (where = path): not_found, bad_data (not a regular file), unsupported (permissions; the reason has
/// the word `writable`), io.
Result<CheckedFile> open_checked(const std::string& path);

/// The identity of the file that `path` leads to now.
Result<FileIdentity> identify(const std::string& path);

/// The real path of this program's binary, through any link.
Result<std::string> host_binary();

}  // namespace mortise
