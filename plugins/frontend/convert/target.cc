// The table of targets. Thread rule and flow: see target.h.
#include "target.h"

namespace mortise::convert {
namespace {

constexpr uint64_t kGroup = UINT64_MAX;  // stands for the group size of the conversion
constexpr uint64_t kAwqColumns = 8;      // outputs that AWQ packs in a word

constexpr Target kTargets[] = {
#include "targets.inc"
};

}  // namespace

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

std::string target_names() {
  std::string out;
  for (const Target& target : kTargets) out += (out.empty() ? "" : ", ") + std::string(target.name);
  return out;
}

const char* format_of(const Target& target, Role role, uint64_t rows, uint64_t columns, uint64_t group) {
  if (role == Role::vector) return target.vector;
  for (const Target::Choice& choice : role == Role::table ? target.table : target.matrix) {
    if (choice.format == nullptr) break;
    const bool is_grouped = choice.block == kGroup;
    const uint64_t block = is_grouped ? group : choice.block;
    if (is_grouped && (rows == 0 || columns == 0 || rows % kAwqColumns != 0)) continue;
    if (columns % block == 0) return choice.format;
  }
  return target.vector;
}

}  // namespace mortise::convert
