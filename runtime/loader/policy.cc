// Path policy; see policy.h. Thread rule: no state. Flow: path -> open file that passed, before a byte is
// read.
#include "loader/policy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace mortise {
namespace {

FileIdentity identity_of(const struct stat& s) {
  const int64_t modified_ns = int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
  return FileIdentity{s.st_dev, s.st_ino, static_cast<uint64_t>(s.st_size), modified_ns};
}

Result<std::string> canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real) return std::string(real.get());
  struct stat link {};
  if (errno == ENOENT && ::lstat(path.c_str(), &link) == 0) {
    return fail(Code::not_found, path, "a link that leads to no file; remove it or restore its target");
  }
  if (errno == ENOENT) return fail(Code::not_found, path, "no such file; check the path");
  return fail(Code::io, path, fmt::format("cannot be reached: {}; check the path", std::strerror(errno)));
}

bool trusted_owner(uid_t owner) {
  if (owner == ::geteuid() || owner == 0) return true;
  struct stat host {};
  return ::stat("/proc/self/exe", &host) == 0 && owner == host.st_uid;
}

// `what` is "the file" or "its folder". The word `writable` stands in every reason, also for a foreign owner,
// who may write at any time.
Result<void> check_permissions(const std::string& path, const struct stat& s, const std::string& what) {
  if (!trusted_owner(s.st_uid)) {
    return fail(
        Code::unsupported, path,
        fmt::format("{} is writable by its owner, user {}, who is neither this user, root nor the owner of "
                    "the host's binary; chown it",
                    what, s.st_uid));
  }
  const bool sticky_folder = S_ISDIR(s.st_mode) && (s.st_mode & S_ISVTX) != 0;
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky_folder) {
    return fail(Code::unsupported, path,
                fmt::format("{} is writable by {}; chmod go-w it", what,
                            (s.st_mode & S_IWOTH) != 0 ? "everybody" : "its group"));
  }
  return {};
}

Result<void> check_folder(const std::string& path, const std::filesystem::path& folder) {
  struct stat s {};
  if (::stat(folder.c_str(), &s) != 0) {
    return fail(Code::io, path, fmt::format("its folder cannot be read: {}", std::strerror(errno)));
  }
  return check_permissions(path, s, fmt::format("the folder {}", folder.string()));
}

std::filesystem::path folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

}  // namespace

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<CheckedFile> open_checked(const std::string& path) {
  MORTISE_TRY(real, canonical(path));
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  OpenFile file(::open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.fd() < 0) {
    return fail(Code::io, path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  struct stat s {};
  if (::fstat(file.fd(), &s) != 0) {
    return fail(Code::io, path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (S_ISDIR(s.st_mode)) return fail(Code::bad_data, path, "a directory, not a file");
  if (!S_ISREG(s.st_mode)) return fail(Code::bad_data, path, "not a regular file");
  MORTISE_CHECK(check_permissions(path, s, "the file"));
  MORTISE_CHECK(check_folder(path, folder_of(real)));
  MORTISE_CHECK(check_folder(path, folder_of(path)));
  return CheckedFile{std::move(real), identity_of(s), std::move(file)};
}

Result<FileIdentity> identify(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) {
    return fail(Code::io, path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  return identity_of(s);
}

Result<std::string> host_binary() { return canonical("/proc/self/exe"); }

}  // namespace mortise
