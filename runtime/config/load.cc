// Finds and reads the pipeline file; see load_pipeline in pipeline.h. Thread rule: pure but for reading
// files. Flow: the command line's PIPELINE argument -> a file -> parse_pipeline.
#include <fmt/format.h>

#include <algorithm>

#include "config/nearest.h"
#include "config/pipeline.h"
#include "config/toml_text.h"

namespace mortise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".toml";

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos ||
         (name.size() > kSuffix.size() &&
          name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0);
}

std::vector<std::string> installed_names(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == kSuffix) names.push_back(it->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

Result<fs::path> find_config(const std::string& name, const std::vector<fs::path>& folders) {
  if (is_path(name)) return fs::path{name};
  // "" and ".." name no config, and must not be looked up as files.
  for (const fs::path& folder : folders) {
    const fs::path file = folder / (name + std::string{kSuffix});
    std::error_code error;
    if (!name.empty() && fs::exists(file, error)) return file;
  }
  return fail(Code::not_found, name.empty() ? "PIPELINE" : name,
              fmt::format("is no installed config and no .toml file; {}",
                          suggest_name(name, installed_names(folders))));
}

Result<Pipeline> load_pipeline(const PipelineOptions& options) {
  MORTISE_TRY(file, find_config(options.pipeline, options.config_folders));
  MORTISE_TRY(text, read_config_file(file));
  return parse_pipeline(text, file.string(), file.parent_path(), options);
}

}  // namespace mortise
