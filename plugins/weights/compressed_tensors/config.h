// What quantization_config says of a compressed-tensors or FP8 model: layouts, bits, and how far a scale
// reaches. Thread rule: pure functions over an opened folder. Flow: read once by the scheme's compose. Which
// modules are quantized the tensors say themselves, so targets and ignore lists are not looked at.
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "hf/model.h"

namespace compressed_tensors {

/// One group of the config: how many rows and columns of a weight a scale stands for.
struct Reach {
  enum Kind { tensor, channel, group, block } kind;
  uint64_t rows = 0, columns = 0;  // of a group or a block

  /// Of a weight [out, in], never beyond it.
  uint64_t rows_of(uint64_t out) const;
  uint64_t columns_of(uint64_t in) const;
};

struct Config {
  std::vector<Reach> reaches;  // in the config's order, each once
  std::set<uint32_t> bits;     // of the packed groups: 4, 8 or both
};

/// Errors: a format, type, number of bits or strategy that is not read, by name; rotations of activations.
mortise::Result<Config> read_config(const mortise::hf::Folder& folder);

}  // namespace compressed_tensors
