// The pipeline file as a plain struct: every key of the contract, checked, with its origin.
// Thread rule: plain data, constant once loaded. Flow: load_pipeline makes it from TOML and --set; plugin
// choice, model and engine read it. Opens no model and loads no plugin: [defaults] and [plugin.*] stay raw
// until their declarations are known (check_defaults, check_table in params.h).
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/raw.h"

namespace mortise {

/// A setting and where it was written: "file:line:column" or "--set KEY"; for a default the pipeline file's
/// name.
template <class T>
struct Sourced {
  T value{};
  std::string where;
  bool is_default = true;

  operator const T&() const { return value; }
};

/// A plugin in use: `"PLUGIN"` or `{ plugin = "PLUGIN", name = "NAME" }`. `name` is its instance, and its
/// table is [plugin.NAME]; without one it is the plugin's own name.
struct Use {
  std::string plugin;
  std::string name;
  std::string where;
};

/// A kernel pin: `"FORMAT@TENSOR" = "PLUGIN"`.
struct Pin {
  std::string id;      // a format without its revision, an op id, or "*"
  std::string tensor;  // pattern of tensor names; empty: all
  std::string plugin;
  std::string where;

  std::string text() const { return tensor.empty() ? id : id + "@" + tensor; }
};

/// Bytes, or a share of free memory.
struct KvMemory {
  uint64_t bytes = 0;
  double percent = 0;  // > 0: of what is free, and `bytes` is 0
};

/// [plugin.NAME], raw.
struct PluginTable {
  std::string name;
  std::string where;
  std::vector<RawEntry> entries;
};

struct Pipeline {
  std::string source;            // the file, as errors name it
  std::filesystem::path folder;  // of the file: relative paths that stand in it start here

  struct {
    Sourced<std::string> path;
    std::optional<Sourced<int64_t>> context;
  } model;

  /// By kind: weights, arch, tokenizer, chat, sampler, frontend. A kind that is absent is chosen by probing;
  /// `sampler` and `frontend` may have several (in order), or none where the list is empty, the others have
  /// one.
  std::map<std::string, std::vector<Use>, std::less<>> use;
  struct {
    std::optional<Use> prefill, decode;  // absent: probed
  } attention;

  struct {
    std::vector<Pin> pin;  // in the order written
    std::vector<Sourced<std::string>> deny;
  } kernels;

  struct {
    Sourced<std::string> device;
  } placement;

  struct {
    Sourced<std::string> dtype;
    Sourced<KvMemory> memory;
    Sourced<bool> prefix_cache;
  } kv;

  struct {
    Sourced<int64_t> threads;  // 0: one per core that the process may use
    Sourced<std::string> dtype;
    Sourced<bool> deterministic;
    Sourced<int64_t> max_sequences, max_batch_tokens, step_ms, queue;
  } engine;

  std::vector<RawEntry> defaults;  // request parameters
  std::vector<PluginTable> plugins;

  /// The first plugin in use of a kind, or null where it is left to probing.
  const Use* used(std::string_view kind) const;
  /// The entries of [plugin.NAME]; empty without such a table.
  const std::vector<RawEntry>& table(std::string_view name) const;
};

/// What the command line says about a pipeline.
struct PipelineOptions {
  std::string pipeline;                               // a path, or the name of an installed config
  std::optional<std::string> model;                   // -m: replaces model.path, after every --set
  std::vector<std::string> sets;                      // --set, the later one wins
  std::vector<std::filesystem::path> config_folders;  // of installed configs, an earlier one first
};

/// Reads, merges and checks. Errors (code bad_argument, not_found, io or limit): where = file:line:column,
/// "--set KEY", "-m", or the argument.
Result<Pipeline> load_pipeline(const PipelineOptions& options);

/// load_pipeline on text in memory: `source` names it in errors, `folder` is what its paths are relative to.
Result<Pipeline> parse_pipeline(std::string_view text, const std::string& source,
                                const std::filesystem::path& folder, const PipelineOptions& options);

/// The file of `name`: itself where it is a path (ends in .toml or holds a slash), else NAME.toml of the
/// first folder that has it. Errors: where = name.
Result<std::filesystem::path> find_config(const std::string& name,
                                          const std::vector<std::filesystem::path>& folders);

}  // namespace mortise
