// Nearest known name; see nearest.h. Thread rule: pure functions. Flow: error messages of every lookup by
// name.
#include "config/nearest.h"

#include <algorithm>
#include <array>

namespace mortise {
namespace {

constexpr size_t kMaxName = 128;   // bytes compared: bounds the work for hostile names
constexpr size_t kMaxListed = 16;  // known names that an error lists

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

size_t name_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxName);
  b = b.substr(0, kMaxName);
  using Row = std::array<size_t, kMaxName + 1>;
  Row before{}, last{}, row{};
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const auto nearer = [name](const std::string& a, const std::string& b) {
    return name_distance(name, a) < name_distance(name, b);
  };
  const auto best = std::min_element(known.begin(), known.end(), nearer);
  return best == known.end() ? std::string_view{} : std::string_view{*best};
}

std::string suggest_name(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "none are known";
  const std::string best{nearest_name(name, known)};
  // A third of the letters may differ: beyond that a guess misleads, and the whole list helps more.
  if (name_distance(name, best) <= std::max<size_t>(1, std::max(name.size(), best.size()) / 3)) {
    return "did you mean '" + best + "'?";
  }
  std::string out = "the nearest known is '" + best + "'";
  if (known.size() > 1) {
    out += " of ";
    for (size_t i = 0; i < known.size() && i < kMaxListed; ++i) out += (i == 0 ? "" : ", ") + known[i];
    if (known.size() > kMaxListed) out += ", …";
  }
  return out;
}

}  // namespace mortise
