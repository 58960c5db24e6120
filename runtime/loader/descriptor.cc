// The descriptor; see descriptor.h. Thread rule: pure functions. Flow: C structs -> accepted or refused.
#include "loader/descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace mortise {
namespace {

constexpr size_t kHelpBytesMax = 1023;

// Printable text of at most `bytes_max` bytes; UTF-8 is let through.
bool is_text(const char* text, size_t bytes_max) {
  if (text == nullptr) return false;
  const size_t size = ::strnlen(text, bytes_max + 1);
  return size <= bytes_max &&
         std::none_of(text, text + size, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

class DescriptorReader {
 public:
  DescriptorReader(const Manifest& manifest, const HostOffer& offer, const std::string& where)
      : manifest_(manifest), offer_(offer), where_(where) {}

  Result<std::vector<LoadedPart>> read(const mortise_plugin* plugin) const;

 private:
  tl::unexpected<Error> bad(std::string message) const {
    return fail(Code::bad_data, where_, "its descriptor is wrong: " + std::move(message));
  }
  Result<void> same(const char* name, const char* said, const std::string& expected) const;
  Result<LoadedPart> part(const mortise_part* part) const;
  Result<void> interface(const mortise_part& part) const;

  const Manifest& manifest_;
  const HostOffer& offer_;
  const std::string& where_;
};

Result<void> DescriptorReader::same(const char* name, const char* said, const std::string& expected) const {
  if (!is_text(said, kManifestTextBytesMax)) return bad(fmt::format("its {} is no text", name));
  if (said != expected) return bad(fmt::format("{} '{}', but '{}' in the manifest", name, said, expected));
  return {};
}

Result<std::vector<LoadedPart>> DescriptorReader::read(const mortise_plugin* plugin) const {
  if (plugin == nullptr) return bad(MORTISE_ENTRY_NAME " returned null");
  if (plugin->size < sizeof(mortise_plugin)) return bad("it is smaller than mortise_plugin");
  if (plugin->abi != MORTISE_ABI)
    return bad(fmt::format("ABI {}, but {} in the manifest", plugin->abi, MORTISE_ABI));
  MORTISE_CHECK(same("id", plugin->id, manifest_.id));
  MORTISE_CHECK(same("version", plugin->version, manifest_.version));
  MORTISE_CHECK(same("license", plugin->license, manifest_.license));
  if (plugin->part_count != manifest_.provides.size() || plugin->parts == nullptr) {
    return bad(
        fmt::format("{} parts, but {} in the manifest", plugin->part_count, manifest_.provides.size()));
  }
  std::vector<LoadedPart> out;
  for (uint32_t i = 0; i < plugin->part_count; ++i) {
    MORTISE_TRY(read, part(plugin->parts[i]));
    out.push_back(std::move(read));
  }
  for (const PartName& expected : manifest_.provides) {
    const auto found = std::find_if(out.begin(), out.end(), [&expected](const LoadedPart& loaded) {
      return loaded.part->kind == expected.kind && loaded.part->name == expected.name;
    });
    if (found == out.end())
      return bad(fmt::format("the part {} of the manifest is missing", expected.text()));
  }
  return out;
}

Result<LoadedPart> DescriptorReader::part(const mortise_part* part) const {
  if (part == nullptr || part->size < sizeof(mortise_part)) return bad("a part is smaller than mortise_part");
  if (!is_text(part->kind, kIdBytesMax) || !is_text(part->name, kIdBytesMax))
    return bad("a part has no kind or name");
  if (part->help != nullptr && !is_text(part->help, kHelpBytesMax))
    return bad(fmt::format("the help of {} is no line of text", part->name));
  if (part->table == nullptr)
    return bad(fmt::format("{}:{} has no table of functions", part->kind, part->name));
  if (part->create != nullptr && part->destroy == nullptr) {
    return bad(fmt::format("{}:{} has create but no destroy", part->kind, part->name));
  }
  MORTISE_CHECK(interface(*part));
  const std::string owner = fmt::format("{}:{}", part->kind, part->name);
  auto params = read_params(owner, part->params, part->param_count);
  if (!params) return bad(params.error().text());
  return LoadedPart{part, std::move(*params)};
}

Result<void> DescriptorReader::interface(const mortise_part& part) const {
  if (!is_text(part.interface_id, kInterfaceIdBytesMax))
    return bad(fmt::format("{} has no interface id", part.name));
  const auto& needs = manifest_.needs;
  if (std::find(needs.begin(), needs.end(), part.interface_id) == needs.end()) {
    return bad(fmt::format("{}:{} uses the interface '{}', which the manifest's needs do not name", part.kind,
                           part.name, part.interface_id));
  }
  const Interface* known = offer_.find(part.interface_id);
  if (known == nullptr || known->kind != part.kind) {
    return bad(fmt::format("the interface '{}' of {} is not one of the kind '{}'", part.interface_id,
                           part.name, part.kind));
  }
  return {};
}

}  // namespace

Result<std::vector<LoadedPart>> read_descriptor(const mortise_plugin* plugin, const Manifest& manifest,
                                                const HostOffer& offer, const std::string& where) {
  return DescriptorReader(manifest, offer, where).read(plugin);
}

}  // namespace mortise
