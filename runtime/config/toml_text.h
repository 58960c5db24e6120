// TOML text to Raw values: files, single values, and --set. The only user of the TOML library.
// Thread rule: pure functions but for reading a file. Flow: first step of loading a pipeline.
#pragma once
#include <mortise/cpp/result.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "config/raw.h"

namespace mortise {

// Limits of a pipeline file.
constexpr size_t kMaxConfigBytes = 1 << 20;  // of the file, and of one --set text
constexpr size_t kMaxKeyParts = 16;  // of a dotted key: each part is a nested table (values nest 256 deep)

/// The bytes of a pipeline file. Error::where is the path as given.
Result<std::string> read_config_file(const std::filesystem::path& path);

/// Parses a TOML document; `source` is the file's name in positions. Errors: where = source:line:column.
Result<Raw> parse_toml(std::string_view text, const std::string& source);

/// Parses one TOML value, e.g. `[1, 2]` or `"x"`. Columns in positions count two too many.
Result<Raw> parse_toml_value(std::string_view text, const std::string& source);

/// Applies one `KEY=VALUE`: VALUE is a TOML value, or else taken as a string; it replaces the whole value at
/// KEY, tables too. Tables on the way are made as needed. Errors: where = "--set KEY".
Result<void> apply_setting(Raw& root, std::string_view setting);

/// Puts `value` at a path of keys, as apply_setting does.
Result<void> put_value(Raw& root, const std::vector<std::string>& keys, Raw value);

bool is_utf8(std::string_view text);

}  // namespace mortise
