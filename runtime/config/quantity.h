// Numbers with a unit, as people write sizes and durations: "512 MiB", "2 s".
// Thread rule: pure functions. Flow: used by the checks of TOML values.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mortise {

/// Bytes of "512 MiB", "1.5 GiB", "4096 B", "10 GB": KiB to TiB are powers of 1024, kB to TB powers of 1000;
/// the blank is optional. Nothing where `text` is no size or not below 2^62.
std::optional<int64_t> parse_size_bytes(std::string_view text);

/// Milliseconds of "250 ms", "2 s", "1.5 min", "1 h". Nothing where `text` is no duration or not below 2^53.
std::optional<int64_t> parse_duration_ms(std::string_view text);

/// 25 of "25%" or "25 %"; any number >= 0.
std::optional<double> parse_percent(std::string_view text);

}  // namespace mortise
