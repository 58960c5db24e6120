// `mortise plugins` and `mortise check`; see plugins_command.h. Thread rule: [main], single-threaded.
// Flow: folders -> catalog -> probes -> rows; or one file -> its checks one by one.
#include "loader/plugins_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "loader/catalog.h"
#include "loader/elf.h"
#include "loader/probe.h"

namespace mortise {
namespace {

using Json = nlohmann::ordered_json;

// A part that would be loaded.
struct Row {
  PartName part;
  const PluginFile* file;
  Json parameters;
};

struct Found {
  Catalog catalog;
  std::vector<Row> rows;
};

// Text out of a damaged file on one line: names of its symbols may hold anything.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

void probe_file(const PluginFile& file, const HostOffer& offer, Found& found) {
  const auto probed = probe_plugin(file, offer);
  if (!probed) return found.catalog.refused.push_back({file.path, one_line(probed.error().message)});
  for (const ProbedPart& part : *probed) {
    const PartName name{part.kind, part.name};
    if (std::find(file.parts.begin(), file.parts.end(), name) == file.parts.end()) continue;  // shadowed
    found.rows.push_back(Row{name, &file, part.parameters});
  }
}

std::string print(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_json(const Found& found) {
  Json plugins = Json::array();
  for (const Row& row : found.rows) {
    const Manifest& manifest = row.file->manifest;
    Json one;
    one["id"] = manifest.id;
    one["kind"] = row.part.kind;
    one["name"] = row.part.name;
    one["version"] = manifest.version;
    one["path"] = row.file->path;
    one["abi"] = MORTISE_ABI;
    one["isa"] = manifest.isa;
    one["parameters"] = row.parameters;
    plugins.push_back(std::move(one));
  }
  Json refused = Json::array();
  for (const Refusal& refusal : found.catalog.refused) {
    Json one;
    one["path"] = refusal.path;
    one["reason"] = refusal.reason;
    refused.push_back(std::move(one));
  }
  Json out;
  out["plugins"] = std::move(plugins);
  out["refused"] = std::move(refused);
  return print(out);
}

std::string as_table(const Found& found) {
  using Cells = std::array<std::string, 5>;
  std::vector<Cells> lines = {{"KIND", "NAME", "PLUGIN", "VERSION", "FILE"}};
  for (const Row& row : found.rows) {
    const Manifest& manifest = row.file->manifest;
    lines.push_back({row.part.kind, row.part.name, manifest.id, manifest.version, row.file->path});
  }
  std::array<size_t, 5> widths{};
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const Cells& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) out += fmt::format("{:<{}}  ", line[i], widths[i]);
    out += line.back() + "\n";
  }
  if (!found.catalog.refused.empty()) out += "\nrefused:\n";
  for (const Refusal& refusal : found.catalog.refused) {
    out += fmt::format("  {}: {}\n", one_line(refusal.path), refusal.reason);
  }
  return out;
}

// The checks of `mortise check`, gathered as they pass; the first that fails is the last.
class Checks {
 public:
  bool passed(const std::string& name, const std::string& detail) {
    lines_.push_back({name, true, detail});
    return true;
  }
  bool failed(const std::string& name, const std::string& reason) {
    lines_.push_back({name, false, one_line(reason)});
    return false;
  }
  std::string text(const std::string& path) const {
    std::string out = path + "\n";
    for (const Line& line : lines_) {
      out += fmt::format("  {:<9} {:<7} {}\n", line.name, line.ok ? "ok" : "FAILED", line.detail);
    }
    return out;
  }
  std::string json(const std::string& path, bool passed) const {
    Json checks = Json::array();
    for (const Line& line : lines_) {
      Json one;
      one["name"] = line.name;
      one["ok"] = line.ok;
      one["detail"] = line.detail;
      checks.push_back(std::move(one));
    }
    Json out;
    out["path"] = path;
    out["ok"] = passed;
    out["checks"] = std::move(checks);
    return print(out);
  }

 private:
  struct Line {
    std::string name;
    bool ok;
    std::string detail;
  };
  std::vector<Line> lines_;
};

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, " "));
}

bool run_checks(const std::string& path, const HostOffer& offer, Checks& checks) {
  const auto file = open_checked(path);
  if (!file) return checks.failed("file", file.error().message);
  checks.passed("file", fmt::format("{}, {} bytes", file->path, file->identity.size));
  const auto elf = read_elf(file->file.fd(), file->identity.size, path);
  if (!elf) return checks.failed("elf", elf.error().message);
  checks.passed("elf", "a whole x86-64 shared library; needs " + joined(elf->needed));
  const auto manifest = parse_manifest(elf->manifest, path);
  if (!manifest) return checks.failed("manifest", manifest.error().message);
  checks.passed("manifest", fmt::format("{} {}, {}", manifest->id, manifest->version, manifest->license));
  if (const auto met = check_offer(*manifest, offer, path); !met)
    return checks.failed("host", met.error().message);
  checks.passed(
      "host", fmt::format("has {}; processor features: {}", joined(manifest->needs), joined(manifest->isa)));
  const auto probed = probe_plugin({file->path, file->identity, *manifest, elf->needed, {}}, offer);
  if (!probed) return checks.failed("load", probed.error().message);
  for (const ProbedPart& part : *probed) {
    checks.passed("part", fmt::format("{}:{}, {} parameters", part.kind, part.name, part.parameters.size()));
  }
  return true;
}

}  // namespace

Result<std::string> plugins_report(const std::vector<std::string>& folders, bool json) {
  const HostOffer offer = host_offer();
  MORTISE_TRY(searched, plugin_folders(folders));
  MORTISE_TRY(catalog, scan_plugins(searched, offer));
  Found found{std::move(catalog), {}};
  for (const PluginFile& file : found.catalog.files) probe_file(file, offer, found);
  return json ? as_json(found) : as_table(found);
}

CheckReport check_report(const std::string& path, bool json) {
  Checks checks;
  const bool passed = run_checks(path, host_offer(), checks);
  return CheckReport{json ? checks.json(path, passed) : checks.text(path), passed};
}

}  // namespace mortise
