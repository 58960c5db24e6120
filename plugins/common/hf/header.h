// The header of one .safetensors file, checked whole: tensors in the order of their data.
// Thread rule: pure. Flow: the folder's reader calls it for every file; plugins compose tensors of the list.
#pragma once
#include <mortise/cpp/result.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hf/dtypes.h"
#include "hf/hf_limits.h"

namespace mortise::hf {

/// A tensor as it is stored.
struct RawTensor {
  std::string name;
  const Dtype* dtype = nullptr;
  std::array<uint64_t, kRankMax> sizes{};  ///< outermost first; entries from `rank` on are 1
  uint32_t rank = 0;                       ///< 0: one number
  uint32_t file = 0;                       ///< the host's handle
  uint64_t offset = 0;                     ///< from the file's start
  uint64_t length = 0;                     ///< bytes
  uint64_t described_at = 0;               ///< where its entry stands in the header, for errors

  uint64_t size(uint32_t dimension) const { return sizes[dimension]; }
  /// Has it this shape?
  bool has_shape(std::initializer_list<uint64_t> shape) const;
};

struct Header {
  std::deque<RawTensor> tensors;                              ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< "__metadata__"
  uint64_t data_start = 0;
  bool has_data = true;  ///< false: the file ends before its data does
};

/// Reads the `size` bytes at `data`, of which nothing behind the header is touched. `where` (the file's name)
/// and the byte's offset stand in errors. Memory: a few times the header. Refused is what the format's
/// reference reader refuses, and equal names. `accept_header_only`: a file that ends anywhere behind its
/// header is taken.
Result<Header> read_header(const uint8_t* data, uint64_t size, const std::string& where, uint32_t file,
                           bool accept_header_only);

}  // namespace mortise::hf
