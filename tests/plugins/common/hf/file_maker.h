// Small .safetensors files and folders for tests.
// Thread rule: one thread at a time. Flow: test code only.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "hf/header.h"

namespace hf_test {

/// Length, header, data.
inline std::string file_of(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof(length));
  return out.append(header).append(data);
}

/// A valid file of three tensors in another order than their data, with metadata; small enough to try every
/// prefix.
inline std::string small_file() {
  return file_of(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
                 R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
                 R"("c":{"dtype":"U8","shape":[],"data_offsets":[12,13]}})",
                 "0123456789abc");
}

inline mortise::Result<mortise::hf::Header> parse(std::string_view bytes, bool header_only = false) {
  // A copy of exactly this size, so that a sanitizer sees a read behind its end.
  const auto copy = std::make_unique<uint8_t[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return mortise::hf::read_header(copy.get(), bytes.size(), "x.safetensors", 7, header_only);
}

/// A folder that is gone when the test ends.
class Folder {
 public:
  Folder() {
    static int next = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("mortise-hf-" + std::to_string(getpid()) + "-" + std::to_string(next++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;

  Folder& put(const std::string& name, std::string_view bytes) {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return *this;
  }
  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// {"name": F32 of one number} and its data.
inline std::string one_tensor(const std::string& name) {
  return file_of("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234");
}

}  // namespace hf_test
