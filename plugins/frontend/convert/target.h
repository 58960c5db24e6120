// What a conversion can write, and which format each tensor gets.
// Thread rule: constants and pure functions. Flow: the setting `to` names a row, the plan asks it per tensor.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::convert {

/// What a tensor is for, as far as its format depends on it.
enum class Role { vector, matrix, table };  ///< table: embedding or head; vector: also what must stay exact

struct Target {
  struct Choice {
    const char* format = nullptr;
    uint64_t block = 0;  ///< elements; kGroup: the group size
  };
  std::string_view name;
  const char* writer;  ///< weights plugin
  int64_t file_type;   ///< general.file_type, -1: not GGUF
  const char* vector;
  Choice matrix[3];
  Choice table[3];

  bool is_gguf() const { return file_type >= 0; }
};

/// Null for an unknown name.
const Target* find_target(std::string_view name);
/// "gguf-f32, gguf-f16, …"
std::string target_names();

/// The format of a tensor with rows of `columns`, `rows` of them; `group`: of AWQ.
const char* format_of(const Target& target, Role role, uint64_t rows, uint64_t columns, uint64_t group);

}  // namespace mortise::convert
