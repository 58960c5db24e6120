// [use] and [kernels]; see pipeline_use.h. Thread rule: pure functions. Flow: part of parse_pipeline.
#include "config/pipeline_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/keys.h"
#include "config/nearest.h"

namespace mortise {
namespace {

using Type = Raw::Type;

constexpr size_t kMaxPluginName = 63;  // bytes, as the plugin header says
constexpr size_t kMaxUses = 64;        // plugins of one kind in a pipeline
constexpr size_t kMaxPins = 1024;      // entries of kernels.pin and of kernels.deny

tl::unexpected<Error> wrong(const std::string& where, const std::string& message) {
  return fail(Code::bad_argument, where, message);
}

bool is_plugin_name(const std::string& name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxPluginName && std::all_of(name.begin(), name.end(), legal);
}

Result<std::string> read_name(const std::string& key, const Raw& raw) {
  if (!raw.is(Type::string)) {
    return wrong(raw.where,
                 fmt::format("{} expects a plugin's name as a string, found {}; name a plugin that "
                             "`mortise plugins` lists",
                             key, found_text(raw)));
  }
  if (!is_plugin_name(raw.s)) {
    return wrong(raw.where,
                 fmt::format("{} = {} is no plugin's name; a name is 1 to {} of a-z, 0-9, '.', '_' and "
                             "'-'",
                             key, quoted_text(raw.s), kMaxPluginName));
  }
  return raw.s;
}

/// `"PLUGIN"` or `{ plugin = "PLUGIN", name = "NAME" }`.
Result<Use> read_one(const std::string& key, const Raw& raw) {
  Use use;
  use.where = raw.where;
  if (!raw.is(Type::table)) {
    MORTISE_TRY(name, read_name(key, raw));
    use.plugin = use.name = name;
    return use;
  }
  for (const RawEntry& entry : raw.entries) {
    const std::string inner = key + "." + key_text(entry.key);
    if (entry.key != "plugin" && entry.key != "name") {
      return wrong(entry.where,
                   fmt::format("unknown key {}; {}", inner, suggest_name(entry.key, {"plugin", "name"})));
    }
    MORTISE_TRY(name, read_name(inner, entry.value));
    (entry.key == "plugin" ? use.plugin : use.name) = name;
  }
  if (use.plugin.empty()) {
    return wrong(raw.where, key + " names no plugin; write { plugin = \"…\", name = \"…\" }");
  }
  if (use.name.empty()) use.name = use.plugin;
  return use;
}

/// A list of plugins; a lone one stands for a list of one.
Result<std::vector<Use>> read_several(const std::string& key, const Raw& raw) {
  std::vector<Use> uses;
  if (!raw.is(Type::list)) {
    MORTISE_TRY(only, read_one(key, raw));
    uses.push_back(std::move(only));
    return uses;
  }
  if (raw.items.size() > kMaxUses) {
    return fail(Code::limit, raw.where,
                fmt::format("{} lists more than {} plugins; shorten it", key, kMaxUses));
  }
  for (const Raw& item : raw.items) {
    MORTISE_TRY(use, read_one(key, item));
    const auto same = [&use](const Use& other) { return other.name == use.name; };
    if (std::any_of(uses.begin(), uses.end(), same)) {
      return wrong(use.where,
                   fmt::format("{} has '{}' twice; give the second a name of its own: {{ plugin = \"{}\", "
                               "name = \"…\" }}",
                               key, use.name, use.plugin));
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

Result<void> read_attention(const Raw& raw, Pipeline& out) {
  const bool single = !raw.is(Type::table) || raw.find("plugin") != nullptr;
  if (single) {
    MORTISE_TRY(use, read_one("use.attention", raw));
    out.attention.prefill = out.attention.decode = use;
    return {};
  }
  for (const RawEntry& entry : raw.entries) {
    const std::string key = "use.attention." + key_text(entry.key);
    if (entry.key != "prefill" && entry.key != "decode") {
      return wrong(entry.where,
                   fmt::format("unknown key {}; {}", key, suggest_name(entry.key, {"prefill", "decode"})));
    }
    MORTISE_TRY(use, read_one(key, entry.value));
    (entry.key == "prefill" ? out.attention.prefill : out.attention.decode) = use;
  }
  return {};
}

Result<Pin> read_pin(const RawEntry& entry) {
  Pin pin;
  pin.where = entry.where;
  const std::string key = "kernels.pin." + key_text(entry.key);
  const size_t at = entry.key.find('@');
  pin.id = entry.key.substr(0, at);
  if (at != std::string::npos) pin.tensor = entry.key.substr(at + 1);
  if (pin.id.empty() || (at != std::string::npos && pin.tensor.empty())) {
    return wrong(entry.where, key + " is no pin; write FORMAT, FORMAT@tensor, an op id or \"*\"");
  }
  MORTISE_TRY(plugin, read_name(key, entry.value));
  pin.plugin = plugin;
  return pin;
}

}  // namespace

Result<void> read_use(const RawEntry& entry, Pipeline& out) {
  const std::string key = "use." + entry.key;
  if (entry.key == "attention") return read_attention(entry.value, out);
  const Param* declared = pipeline_table("use")->find(entry.key);
  if (declared->type == MORTISE_LIST) {
    MORTISE_TRY(uses, read_several(key, entry.value));
    out.use[entry.key] = std::move(uses);
    return {};
  }
  MORTISE_TRY(use, read_one(key, entry.value));
  out.use[entry.key] = {std::move(use)};
  return {};
}

Result<void> read_kernels(const RawEntry& entry, Pipeline& out) {
  const bool pins = entry.key == "pin";
  const Raw& raw = entry.value;
  const std::string key = "kernels." + entry.key;
  if (!raw.is(pins ? Type::table : Type::list)) {
    return wrong(raw.where,
                 fmt::format("{} expects {}, found {}; {}", key, pins ? "a table" : "a list of strings",
                             found_text(raw), pipeline_table("kernels")->find(entry.key)->help));
  }
  if (std::max(raw.entries.size(), raw.items.size()) > kMaxPins) {
    return fail(Code::limit, raw.where,
                fmt::format("{} has more than {} entries; shorten it", key, kMaxPins));
  }
  for (const RawEntry& item : raw.entries) {
    MORTISE_TRY(pin, read_pin(item));
    out.kernels.pin.push_back(std::move(pin));
  }
  for (const Raw& item : raw.items) {
    if (item.is(Type::string) && item.s == "*") {
      out.kernels.deny.push_back({"*", item.where, false});
      continue;
    }
    MORTISE_TRY(name, read_name(key, item));
    out.kernels.deny.push_back({std::move(name), item.where, false});
  }
  return {};
}

}  // namespace mortise
