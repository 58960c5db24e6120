// What the loader's tests share: a folder that goes away, files in it, and plugins with one fault each.
// Thread rule: one test at a time. Flow: included by the tests of runtime/loader.
#pragma once
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "loader/catalog.h"
#include "loader/interfaces.h"

namespace mortise::test {

namespace fs = std::filesystem;

/// A fresh folder below the system's, which is removed with the object.
class Folder {
 public:
  Folder() {
    ::umask(022);  // the loader refuses files that others may write
    std::string path = (fs::temp_directory_path() / "mortise-loader-XXXXXX").string();
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    path_ = fs::canonical(path).string();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string copy(const std::string& from, const std::string& name) const {
    fs::copy_file(from, file(name), fs::copy_options::overwrite_existing);
    return file(name);
  }

 private:
  std::string path_;
};

/// The plugin of tests/faults with that name.
inline std::string fault(const std::string& name) { return MORTISE_FAULTS "/" + name + "/" + name + ".so"; }

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The reason for which the loader refuses the file without running it; "" where it takes it.
inline std::string refusal(const std::string& path, const HostOffer& offer = host_offer()) {
  const auto file = read_plugin_file(path, offer);
  if (file) return "";
  CHECK(file.error().where == path);
  CHECK(file.error().message.find('\n') == std::string::npos);
  return file.error().message;
}

inline PluginFile accepted(const std::string& path, const HostOffer& offer = host_offer()) {
  auto file = read_plugin_file(path, offer);
  INFO((file ? "" : file.error().text()));
  REQUIRE(file.has_value());
  return std::move(*file);
}

}  // namespace mortise::test
