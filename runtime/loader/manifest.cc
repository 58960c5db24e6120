// The manifest; see manifest.h. Thread rule: pure functions. Flow: note text -> fields -> matched with the
// host.
#include "loader/manifest.h"

#include <fmt/format.h>
#include <mortise/plugin.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "config/nearest.h"

namespace mortise {
namespace {

const std::vector<std::string> kKeys = {"abi",      "id",  "version", "license", "needs",
                                        "provides", "isa", "device",  "libs",    "threads"};
constexpr std::string_view kNeededKeys[] = {"abi", "id", "version", "license", "needs", "provides"};

using Fields = std::map<std::string, std::string, std::less<>>;

// Printable ASCII: what is shown later must not steer a terminal.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// The parse of one manifest; `where` names the file.
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}
  Result<Manifest> parse();

 private:
  tl::unexpected<Error> bad(std::string message) const {
    return fail(Code::bad_data, where_, "its manifest is damaged: " + std::move(message));
  }
  Result<void> split();
  Result<void> check_abi() const;
  Result<void> check_keys() const;
  Result<std::vector<std::string>> list(std::string_view key, size_t bytes_max) const;
  Result<std::vector<PartName>> parts() const;
  std::string value(std::string_view key) const {
    const auto found = fields_.find(key);
    return found == fields_.end() ? std::string() : found->second;
  }

  const std::string_view text_;
  const std::string& where_;
  Fields fields_;
};

Result<void> Parser::split() {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0 || !is_plain(line)) {
      return bad("a line is not key=value in plain text");
    }
    const auto key = line.substr(0, equals);
    if (!fields_.emplace(key, line.substr(equals + 1)).second) {
      return bad(fmt::format("key '{}' stands twice", key));
    }
  }
  return {};
}

Result<void> Parser::check_abi() const {
  const std::string abi = value("abi");
  if (abi == std::to_string(MORTISE_ABI)) return {};
  const bool number = !abi.empty() && abi.size() < 10 &&
                      std::all_of(abi.begin(), abi.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return bad("key 'abi' is not a number");
  return fail(Code::unsupported, where_,
              fmt::format("made for plugin ABI {}, but this host has ABI {}; rebuild it or use another host",
                          abi, MORTISE_ABI));
}

Result<void> Parser::check_keys() const {
  for (const auto& [key, text] : fields_) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return fail(Code::unsupported, where_,
                  fmt::format("its manifest has the unknown key '{}'; {} A newer key needs a newer host", key,
                              suggest_name(key, kKeys)));
    }
  }
  for (const std::string_view key : kNeededKeys) {
    if (fields_.find(key) == fields_.end()) return bad(fmt::format("key '{}' is missing", key));
  }
  return {};
}

// Words between single blanks; each at most `bytes_max` long, none twice.
Result<std::vector<std::string>> Parser::list(std::string_view key, size_t bytes_max) const {
  const std::string text = value(key);
  std::string_view rest = text;
  std::vector<std::string> out;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    if (word.size() > bytes_max || out.size() == kManifestListMax) {
      return fail(Code::limit, where_,
                  fmt::format("its manifest's list '{}' is larger than {} entries of {} bytes", key,
                              kManifestListMax, bytes_max));
    }
    if (std::find(out.begin(), out.end(), word) != out.end()) {
      return bad(fmt::format("list '{}' names '{}' twice", key, word));
    }
    out.emplace_back(word);
  }
  return out;
}

Result<std::vector<PartName>> Parser::parts() const {
  MORTISE_TRY(words, list("provides", 2 * kIdBytesMax + 1));
  std::vector<PartName> out;
  for (const std::string& word : words) {
    const size_t colon = word.find(':');
    const std::string kind = word.substr(0, colon);
    const std::string name = colon == std::string::npos ? "" : word.substr(colon + 1);
    if (!is_id(kind) || !is_id(name)) {
      return bad(fmt::format("list 'provides' has '{}', which is not kind:name of [a-z0-9._-]", word));
    }
    out.push_back(PartName{kind, name});
  }
  if (out.empty()) return bad("list 'provides' is empty");
  return out;
}

Result<Manifest> Parser::parse() {
  MORTISE_CHECK(split());
  MORTISE_CHECK(check_abi());
  MORTISE_CHECK(check_keys());
  Manifest out;
  out.id = value("id");
  if (!is_id(out.id) || out.id.find('.') == std::string::npos) {
    return bad("key 'id' is not vendor.name of [a-z0-9._-]");
  }
  out.version = value("version");
  out.license = value("license");
  if (out.version.empty() || std::max(out.version.size(), out.license.size()) > kManifestTextBytesMax) {
    return bad(fmt::format("version or license is empty or longer than {} bytes", kManifestTextBytesMax));
  }
  MORTISE_TRY(needs, list("needs", kInterfaceIdBytesMax));
  MORTISE_TRY(provides, parts());
  MORTISE_TRY(isa, list("isa", kIdBytesMax));
  MORTISE_TRY(libs, list("libs", kManifestTextBytesMax));
  out.needs = std::move(needs);
  out.provides = std::move(provides);
  out.isa = std::move(isa);
  out.libs = std::move(libs);
  for (const std::string& lib : out.libs) {
    if (lib.find('/') != std::string::npos)
      return bad("list 'libs' has a path; it takes names of files beside it");
  }
  if (fields_.count("device") != 0) out.device = value("device");
  if (!is_id(out.device)) return bad("key 'device' is not a name of [a-z0-9._-]");
  const std::string threads = value("threads");
  if (!threads.empty() && threads != "none" && threads != "own")
    return bad("key 'threads' is neither none nor own");
  out.own_threads = threads == "own";
  return out;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kIdBytesMax && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

Result<void> check_offer(const Manifest& manifest, const HostOffer& offer, const std::string& where) {
  const auto lacks = [&where](std::string message) {
    return fail(Code::unsupported, where, std::move(message));
  };
  for (const std::string& id : manifest.needs) {
    if (offer.find(id) == nullptr) {
      return lacks(
          fmt::format("needs the interface '{}', which this host lacks; rebuild it or use another host", id));
    }
  }
  for (const PartName& part : manifest.provides) {
    if (!offer.has_kind(part.kind)) {
      return lacks(fmt::format("offers a part of the kind '{}', which this host does not know; {}", part.kind,
                               suggest_name(part.kind, offer.kinds())));
    }
  }
  for (const std::string& feature : manifest.isa) {
    if (!has(offer.isa, feature)) {
      return lacks(fmt::format("needs the processor feature '{}', which this machine lacks; it has {}",
                               feature, fmt::join(offer.isa, " ")));
    }
  }
  if (!has(offer.devices, manifest.device)) {
    return lacks(fmt::format("needs the device '{}', which this host lacks; it has {}", manifest.device,
                             fmt::join(offer.devices, " ")));
  }
  return {};
}

}  // namespace mortise
