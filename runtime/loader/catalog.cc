// The catalog; see catalog.h. Thread rule: no state. Flow: folders -> files -> names settled.
#include "loader/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "loader/elf.h"

namespace mortise {
namespace {

namespace fs = std::filesystem;

// The *.so entries of a folder, by name.
Result<std::vector<std::string>> list_folder(const PluginFolder& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder.path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".so") continue;
    if (out.size() == kFolderFilesMax) {
      return fail(Code::limit, folder.path,
                  fmt::format("holds more than {} plugins; split it", kFolderFilesMax));
    }
    out.push_back(at->path().string());
  }
  if (error) return fail(Code::bad_argument, folder.path, "cannot be listed: " + error.message());
  std::sort(out.begin(), out.end());
  return out;
}

// One scan. Within a folder names are gathered first and settled at its end.
class Scan {
 public:
  explicit Scan(const HostOffer& offer) : offer_(offer) {}

  void folder(const std::vector<std::string>& paths) {
    const size_t first = catalog_.files.size();
    for (const std::string& path : paths) file(path, first);
    refuse_twice(first);
    shadow(first);
  }
  void refuse(std::string path, std::string reason) {
    catalog_.refused.push_back(Refusal{std::move(path), std::move(reason)});
  }
  Catalog take() { return std::move(catalog_); }

 private:
  void file(const std::string& path, size_t first);
  void refuse_twice(size_t first);
  void shadow(size_t first);

  const HostOffer& offer_;
  Catalog catalog_;
};

void Scan::file(const std::string& path, size_t first) {
  auto read = read_plugin_file(path, offer_);
  if (!read) return refuse(path, read.error().message);
  const auto begin = catalog_.files.begin() + static_cast<std::ptrdiff_t>(first);
  const auto same = std::find_if(begin, catalog_.files.end(), [&read](const PluginFile& known) {
    return known.identity.same_file(read->identity);
  });
  if (same != catalog_.files.end()) return refuse(path, fmt::format("the same file as {}", same->path));
  catalog_.files.push_back(std::move(*read));
}

void Scan::refuse_twice(size_t first) {
  std::vector<PluginFile>& files = catalog_.files;
  std::map<std::string, std::vector<size_t>> offered;  // part -> the files of this folder that offer it
  for (size_t i = first; i < files.size(); ++i) {
    for (const PartName& part : files[i].manifest.provides) offered[part.text()].push_back(i);
  }
  std::map<size_t, std::string> reasons;
  for (const auto& [part, by] : offered) {
    for (size_t k = 0; by.size() > 1 && k < by.size(); ++k) {
      const fs::path other = files[by[k == 0 ? 1 : 0]].path;
      reasons[by[k]] = fmt::format("its {} is offered twice in this folder, also by {}; remove one", part,
                                   other.filename().string());
    }
  }
  std::vector<PluginFile> kept;
  for (size_t i = first; i < files.size(); ++i) {
    if (const auto reason = reasons.find(i); reason != reasons.end()) {
      refuse(files[i].path, reason->second);
    } else {
      kept.push_back(std::move(files[i]));
    }
  }
  files.resize(first);
  std::move(kept.begin(), kept.end(), std::back_inserter(files));
}

void Scan::shadow(size_t first) {
  std::vector<PluginFile>& files = catalog_.files;
  for (size_t i = first; i < files.size(); ++i) {
    for (const PartName& part : files[i].manifest.provides) {
      const auto end = files.begin() + static_cast<std::ptrdiff_t>(first);
      const auto earlier = std::find_if(files.begin(), end, [&part](const PluginFile& file) {
        return std::find(file.parts.begin(), file.parts.end(), part) != file.parts.end();
      });
      if (earlier == end) {
        files[i].parts.push_back(part);
      } else {
        refuse(files[i].path, fmt::format("its {} is shadowed by {}", part.text(), earlier->path));
      }
    }
  }
  const auto none_left = [](const PluginFile& file) { return file.parts.empty(); };
  files.erase(std::remove_if(files.begin() + static_cast<std::ptrdiff_t>(first), files.end(), none_left),
              files.end());
}

}  // namespace

const PluginFile* Catalog::find(std::string_view kind, std::string_view name) const {
  const auto offers = [kind, name](const PluginFile& file) {
    return std::any_of(file.parts.begin(), file.parts.end(),
                       [&](const PartName& part) { return part.kind == kind && part.name == name; });
  };
  const auto found = std::find_if(files.begin(), files.end(), offers);
  return found == files.end() ? nullptr : &*found;
}

std::vector<std::string> Catalog::names(std::string_view kind) const {
  std::vector<std::string> out;
  for (const PluginFile& file : files) {
    for (const PartName& part : file.parts) {
      if (part.kind == kind) out.push_back(part.name);
    }
  }
  return out;
}

Result<std::vector<PluginFolder>> plugin_folders(const std::vector<std::string>& options) {
  std::vector<PluginFolder> out;
  for (const std::string& option : options) out.push_back(PluginFolder{option, "--plugins"});
  // secure_getenv: whoever starts a setuid host must not choose its code.
  const char* variable = ::secure_getenv("MORTISE_PLUGINS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    // An empty entry is no folder: in PATH it would mean the working directory.
    if (!folder.empty()) out.push_back(PluginFolder{std::string(folder), "MORTISE_PLUGINS"});
  }
  MORTISE_TRY(binary, host_binary());
  out.push_back(
      PluginFolder{(fs::path(binary).parent_path().parent_path() / "lib" / "mortise").string(), "own tree"});
  return out;
}

std::vector<std::string> config_folders() {
  std::vector<std::string> out;
  const auto binary = host_binary();
  if (!binary) return out;
  const fs::path prefix = fs::path(*binary).parent_path().parent_path();
  for (const fs::path& folder :
       {prefix / "share/mortise/configs", prefix.parent_path().parent_path() / "configs"}) {
    std::error_code error;
    if (fs::is_directory(folder, error)) out.push_back(folder.string());
  }
  return out;
}

Result<PluginFile> read_plugin_file(const std::string& path, const HostOffer& offer) {
  MORTISE_TRY(checked, open_checked(path));
  MORTISE_TRY(elf, read_elf(checked.file.fd(), checked.identity.size, path));
  MORTISE_TRY(manifest, parse_manifest(elf.manifest, path));
  MORTISE_CHECK(check_offer(manifest, offer, path));
  return PluginFile{checked.path, checked.identity, std::move(manifest), std::move(elf.needed), {}};
}

Result<Catalog> scan_plugins(const std::vector<PluginFolder>& folders, const HostOffer& offer) {
  Scan scan(offer);
  std::set<std::string> seen;
  for (const PluginFolder& folder : folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder.path, error);
    if (!error && !seen.insert(real.string()).second) continue;
    const PluginFolder named{error ? folder.path : real.string(), folder.origin};
    const auto paths = list_folder(named);
    if (paths) {
      scan.folder(*paths);
    } else if (folder.origin == "--plugins" || paths.error().code == Code::limit) {
      return fail(paths.error().code, fmt::format("{} {}", folder.origin, folder.path),
                  paths.error().message + "; name a folder of plugins");
    } else if (folder.origin == "MORTISE_PLUGINS") {
      scan.refuse(folder.path, fmt::format("{} of MORTISE_PLUGINS", paths.error().message));
    }
  }
  return scan.take();
}

}  // namespace mortise
