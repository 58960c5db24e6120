// Declared parameters: from a plugin's list of mortise_param come the checks of TOML and requests, defaults,
// help and what front ends publish. Thread rule: immutable once read; pure functions. Flow: the loader reads
// a part's declarations, the pipeline's tables and each request are checked against them, Values go to
// create() and to the samplers.
#pragma once
#include <mortise/base.h>
#include <mortise/cpp/result.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/raw.h"
#include "config/values.h"

namespace mortise {

// Limits of declarations.
constexpr size_t kMaxParams = 256;      // of one part
constexpr size_t kMaxParamName = 63;    // bytes
constexpr size_t kMaxParamText = 1024;  // bytes of default, range, unit or help
constexpr size_t kMaxJsonDepth = 64;    // of a value of type JSON

/// An interval of numbers, or of lengths (characters of a string, items of a list or map, bytes).
struct Range {
  std::optional<double> low, high;  // absent: unbounded
  bool includes_low = true, includes_high = true;

  bool contains(double x) const;
  std::string text() const;  // "[1, 64]", "(0, inf)"
};

/// "[0,1]", "(0,1]", "[0,)", blanks allowed. Errors: where is empty.
Result<Range> parse_range(std::string_view text);

/// One declaration, read and checked.
struct Param {
  std::string name;
  uint32_t type = MORTISE_BOOL;
  uint32_t flags = 0;
  std::optional<Range> range;
  std::vector<std::string> choices;  // ENUM
  std::optional<Raw> fallback;       // the default; already checked
  std::string fallback_text;         // as declared, for help
  std::string unit, help;

  bool in_config() const { return (flags & MORTISE_PARAM_CONFIG) != 0; }
  bool in_request() const { return (flags & MORTISE_PARAM_REQUEST) != 0; }
  bool is_secret() const { return type == MORTISE_SECRET || (flags & MORTISE_PARAM_REDACTED) != 0; }
};

/// A part's declarations in declared order. `owner` names it in errors.
struct Params {
  std::string owner;
  std::vector<Param> list;

  const Param* find(std::string_view name) const;
};

/// Reads and checks declarations. Errors (bad_data): where = `owner`, the message names the parameter and the
/// field.
Result<Params> read_params(const std::string& owner, const mortise_param* const* params, size_t count);

/// What a value of this type looks like: "an integer", "one of \"a\", \"b\"".
std::string expected_text(const Param& param);

/// Checks one value as written. `name` is what errors call it ("engine.queue"); `folder` is the pipeline
/// file's, for relative paths of values that stand in the file. Errors (bad_argument): where = raw.where.
Result<Value> check_value(const Param& param, const std::string& name, const Raw& raw,
                          const std::filesystem::path& folder);

/// Checks one value of a request; null means absent (is_set false). Errors: where = the parameter's name.
Result<Value> check_json(const Param& param, const nlohmann::ordered_json& json);

/// A plugin's own table against its CONFIG declarations; `table` is its name in TOML ("plugin.NAME"). Unknown
/// keys are errors that name the nearest. Errors: where = the key's or value's position.
Result<Given> check_table(const Params& params, const std::string& table,
                          const std::vector<RawEntry>& entries, const std::filesystem::path& folder);

/// [defaults] against the merged request parameters.
Result<Given> check_defaults(const Params& merged, const std::vector<RawEntry>& entries,
                             const std::filesystem::path& folder);

/// Given values in declared order, defaults where none was given. Names that `params` does not declare are
/// ignored: each part picks its own from a request.
Values fill_values(const Params& params, const Given& given, const std::filesystem::path& folder);

/// The request parameters of all parts in use, each once. Errors (bad_argument): two parts declare one name
/// with different types or ranges; where = the name, the message names both owners.
Result<Params> merge_request_params(const std::vector<const Params*>& parts);

/// [{"name","type","default","range","unit","help","config","request"}], absent fields null.
nlohmann::ordered_json describe_params(const Params& params);

/// One line per parameter for --help.
std::vector<std::string> help_lines(const Params& params);

}  // namespace mortise
