// A test's name taken apart: KIND:N[+D][@B].
// Thread rule: pure. Flow: the `tests` parameter -> what bench runs.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::bench {

constexpr uint64_t kTokensMax = 1'000'000;  // N and D of one test
constexpr uint64_t kSequencesMax = 4096;

struct Spec {
  enum class Kind { prefill, decode };
  std::string name;  ///< as written
  Kind kind = Kind::prefill;
  uint64_t tokens = 0;     ///< N: prompt tokens, or steps of each sequence
  uint64_t depth = 0;      ///< D: tokens already in each context
  uint64_t sequences = 1;  ///< B: decode only
};

/// Errors name the parameter `tests`.
Result<Spec> parse_spec(std::string_view name);

}  // namespace mortise::bench
