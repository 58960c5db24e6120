// Pipeline text to a checked Pipeline; see pipeline.h. Thread rule: pure functions. Flow: after the text is
// read.
#include "config/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "config/keys.h"
#include "config/nearest.h"
#include "config/pipeline_use.h"
#include "config/quantity.h"
#include "config/toml_text.h"

namespace mortise {
namespace {

using Type = Raw::Type;

/// Checked values of the tables with plain keys, by "table.key".
using Checked = std::map<std::string, Value>;

Result<void> expect_table(const RawEntry& entry, const std::string& name) {
  if (entry.value.is(Type::table)) return {};
  return fail(Code::bad_argument, entry.value.where,
              fmt::format("{} expects a table, found {}; write [{}] and its keys below", name,
                          found_text(entry.value), name));
}

tl::unexpected<Error> unknown_table(const RawEntry& entry) {
  std::vector<std::string> known{"defaults", "plugin"};
  for (const Params& table : pipeline_keys()) known.push_back(table.owner);
  const std::string name = key_text(entry.key);
  const std::string advice =
      suggest_name(entry.key, known) +
      "; request parameters belong in [defaults], a plugin's own keys in [plugin.NAME]";
  if (!entry.value.is(Type::table)) {
    return fail(Code::bad_argument, entry.where,
                fmt::format("unknown key {} outside a table; {}", name, advice));
  }
  if (entry.value.entries.empty()) {
    return fail(Code::bad_argument, entry.where, fmt::format("unknown table [{}]; {}", name, advice));
  }
  const RawEntry& first = entry.value.entries[0];
  return fail(
      Code::bad_argument, first.where,
      fmt::format("unknown key {}.{}: there is no table [{}]; {}", name, key_text(first.key), name, advice));
}

Result<KvMemory> read_memory(const Raw& raw, const std::string& help) {
  KvMemory memory;
  const std::string shown = raw.is(Type::string) ? quoted_text(raw.s) : fmt::format("{}", raw.i);
  if (raw.is(Type::integer)) {
    memory.bytes = static_cast<uint64_t>(std::max<int64_t>(raw.i, 0));
  } else if (!raw.is(Type::string)) {
    return fail(Code::bad_argument, raw.where,
                fmt::format("kv.memory expects a size, found {}; {}", found_text(raw), help));
  } else if (const auto percent = parse_percent(raw.s)) {
    if (*percent > 100) {
      return fail(Code::bad_argument, raw.where,
                  fmt::format("kv.memory = {} is not in (0%, 100%]; {}", shown, help));
    }
    memory.percent = *percent;
  } else if (const auto bytes = parse_size_bytes(raw.s)) {
    memory.bytes = static_cast<uint64_t>(*bytes);
  } else {
    return fail(Code::bad_argument, raw.where, fmt::format("kv.memory = {} is no size; {}", shown, help));
  }
  if (memory.bytes == 0 && memory.percent <= 0) {
    return fail(Code::bad_argument, raw.where, fmt::format("kv.memory = {} is not above 0; {}", shown, help));
  }
  return memory;
}

Result<void> read_known_table(const Params& declared, const RawEntry& table, Pipeline& out,
                              Checked& checked) {
  MORTISE_CHECK(expect_table(table, declared.owner));
  for (const RawEntry& entry : table.value.entries) {
    const std::string name = declared.owner + "." + key_text(entry.key);
    const Param* param = declared.find(entry.key);
    if (param == nullptr) {
      std::vector<std::string> known;
      for (const Param& p : declared.list) known.push_back(p.name);
      return fail(Code::bad_argument, entry.where,
                  fmt::format("unknown key {}; {}", name, suggest_name(entry.key, known)));
    }
    if (declared.owner == "use") {
      MORTISE_CHECK(read_use(entry, out));
    } else if (declared.owner == "kernels") {
      MORTISE_CHECK(read_kernels(entry, out));
    } else if (name == "kv.memory") {
      MORTISE_TRY(memory, read_memory(entry.value, param->help));
      out.kv.memory = {memory, entry.value.where, false};
    } else {
      MORTISE_TRY(value, check_value(*param, name, entry.value, out.folder));
      checked.insert_or_assign(name, std::move(value));
    }
  }
  return {};
}

Result<void> read_plugin_tables(const RawEntry& plugins, Pipeline& out) {
  MORTISE_CHECK(expect_table(plugins, "plugin"));
  for (const RawEntry& entry : plugins.value.entries) {
    const std::string name = "plugin." + key_text(entry.key);
    MORTISE_CHECK(expect_table(entry, name));
    out.plugins.push_back({entry.key, entry.where, entry.value.entries});
  }
  return {};
}

/// Defaults for what was not given, as if the file had said it.
void add_defaults(Pipeline& out, Checked& checked) {
  for (const Params& table : pipeline_keys()) {
    for (const Param& param : table.list) {
      const std::string name = table.owner + "." + param.name;
      if (!param.fallback || checked.count(name) != 0) continue;
      if (table.owner == "use" || table.owner == "kernels") continue;
      if (name == "kv.memory") {
        if (out.kv.memory.is_default) out.kv.memory = {*read_memory(*param.fallback, ""), out.source, true};
        continue;
      }
      Value value = *check_value(param, name, *param.fallback, out.folder);
      value.where.clear();
      checked.emplace(name, std::move(value));
    }
  }
}

/// Moves checked values into the struct.
class Filler {
 public:
  Filler(const Checked& checked, const std::string& source) : checked_(checked), source_(source) {}

  void text(const char* key, Sourced<std::string>& out) const { put(key, at(key).s, out); }
  void integer(const char* key, Sourced<int64_t>& out) const { put(key, at(key).i, out); }
  void boolean(const char* key, Sourced<bool>& out) const { put(key, at(key).i != 0, out); }

 private:
  const Value& at(const char* key) const {
    const auto it = checked_.find(key);
    assert(it != checked_.end());
    return it->second;
  }
  template <class T>
  void put(const char* key, T value, Sourced<T>& out) const {
    const std::string& where = at(key).where;
    out = {std::move(value), where.empty() ? source_ : where, where.empty()};
  }

  const Checked& checked_;
  const std::string& source_;
};

void fill(const Checked& checked, Pipeline& out) {
  const Filler from(checked, out.source);
  from.text("model.path", out.model.path);
  if (checked.count("model.context") != 0) from.integer("model.context", out.model.context.emplace());
  from.text("placement.device", out.placement.device);
  from.text("kv.dtype", out.kv.dtype);
  from.boolean("kv.prefix_cache", out.kv.prefix_cache);
  from.integer("engine.threads", out.engine.threads);
  from.text("engine.dtype", out.engine.dtype);
  from.boolean("engine.deterministic", out.engine.deterministic);
  from.integer("engine.max_sequences", out.engine.max_sequences);
  from.integer("engine.max_batch_tokens", out.engine.max_batch_tokens);
  from.integer("engine.step_ms", out.engine.step_ms);
  from.integer("engine.queue", out.engine.queue);
}

Result<void> apply_options(const PipelineOptions& options, Raw& root) {
  for (const std::string& setting : options.sets) MORTISE_CHECK(apply_setting(root, setting));
  if (!options.model) return {};
  if (!is_utf8(*options.model)) return fail(Code::bad_argument, "-m", "is not UTF-8; rename the file");
  Raw path;
  path.type = Type::string;
  path.s = *options.model;
  path.where = "-m";
  return put_value(root, {"model", "path"}, std::move(path));
}

}  // namespace

const Use* Pipeline::used(std::string_view kind) const {
  const auto it = use.find(kind);
  return it == use.end() || it->second.empty() ? nullptr : &it->second[0];
}

const std::vector<RawEntry>& Pipeline::table(std::string_view name) const {
  static const std::vector<RawEntry> none;
  for (const PluginTable& table : plugins) {
    if (table.name == name) return table.entries;
  }
  return none;
}

Result<Pipeline> parse_pipeline(std::string_view text, const std::string& source,
                                const std::filesystem::path& folder, const PipelineOptions& options) {
  MORTISE_TRY(root, parse_toml(text, source));
  MORTISE_CHECK(apply_options(options, root));
  Pipeline out;
  out.source = source;
  out.folder = folder;
  Checked checked;
  for (const RawEntry& entry : root.entries) {
    if (const Params* declared = pipeline_table(entry.key)) {
      MORTISE_CHECK(read_known_table(*declared, entry, out, checked));
    } else if (entry.key == "defaults") {
      MORTISE_CHECK(expect_table(entry, "defaults"));
      out.defaults = entry.value.entries;
    } else if (entry.key == "plugin") {
      MORTISE_CHECK(read_plugin_tables(entry, out));
    } else {
      return unknown_table(entry);
    }
  }
  if (checked.count("model.path") == 0) {
    return fail(Code::bad_argument, source,
                "names no model; give one with -m MODEL, or path = \"…\" under [model]");
  }
  add_defaults(out, checked);
  fill(checked, out);
  return out;
}

}  // namespace mortise
