// Numbers with a unit; see quantity.h. Thread rule: pure functions. Flow: checks of TOML values.
#include "config/quantity.h"

#include <charconv>
#include <cmath>
#include <string>

namespace mortise {
namespace {

struct Quantity {
  double number;
  std::string_view unit;
};

std::optional<Quantity> split(std::string_view text) {
  // from_chars would take "inf" and "-1" too.
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  Quantity out{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out.number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(out.number)) return std::nullopt;
  out.unit = text.substr(static_cast<size_t>(end - text.data()));
  if (!out.unit.empty() && out.unit[0] == ' ') out.unit.remove_prefix(1);
  return out;
}

struct Unit {
  const char* name;
  double factor;
};

constexpr double kKi = 1024;
constexpr Unit kSizes[] = {{"B", 1},
                           {"KiB", kKi},
                           {"MiB", kKi* kKi},
                           {"GiB", kKi* kKi* kKi},
                           {"TiB", kKi* kKi* kKi* kKi},
                           {"kB", 1e3},
                           {"KB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12}};
constexpr Unit kDurations[] = {{"ms", 1}, {"s", 1e3}, {"min", 60e3}, {"h", 3600e3}};

template <size_t N>
std::optional<int64_t> in_units(std::string_view text, const Unit (&units)[N], double limit) {
  const std::optional<Quantity> quantity = split(text);
  if (!quantity) return std::nullopt;
  for (const Unit& unit : units) {
    if (quantity->unit != unit.name) continue;
    const double value = std::round(quantity->number * unit.factor);
    return value < limit ? std::optional<int64_t>(static_cast<int64_t>(value)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_size_bytes(std::string_view text) { return in_units(text, kSizes, 0x1p62); }

std::optional<int64_t> parse_duration_ms(std::string_view text) { return in_units(text, kDurations, 0x1p53); }

std::optional<double> parse_percent(std::string_view text) {
  const std::optional<Quantity> quantity = split(text);
  if (!quantity || quantity->unit != "%") return std::nullopt;
  return quantity->number;
}

}  // namespace mortise
