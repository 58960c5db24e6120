// The parser of a GGUF header; its methods stand in parse.cc (header, metadata) and parse_tensors.cc
// (tensors, extent). Thread rule: one thread at a time. Flow: made by read_file for one file. The rules are
// those of docs/formats/gguf.md; every size is checked against the bytes left before it is believed.
#pragma once
#include <mortise/cpp/reader.h>

#include <algorithm>
#include <numeric>

#include "file.h"

namespace gguf {

using mortise::Code;
using mortise::fail;

// An entry of either list takes at least the length of its name. More would be true, but a short file is
// better told which field of the entry it lacks; nothing is allocated by count.
constexpr uint64_t kEntryBytesMin = 8;
constexpr uint64_t kLargest = INT64_MAX;
constexpr char kDamaged[] = "; the file is damaged";

inline std::string text(uint64_t number) { return std::to_string(number); }

class Parser {
 public:
  Parser(const uint8_t* data, uint64_t size, std::string where) : reader_(data, size, where) {
    file_.where = std::move(where);
    file_.data = data;
    file_.size = size;
  }

  Result<File> run(bool accept_header_only) {
    MORTISE_CHECK(header());
    MORTISE_CHECK(metadata());
    MORTISE_CHECK(alignment());
    MORTISE_CHECK(tensors());
    MORTISE_CHECK(extent(accept_header_only));
    return std::move(file_);
  }

 private:
  Result<void> header();
  Result<void> metadata();
  Result<void> value(Entry& entry);
  Result<void> array(Entry& entry);
  Result<void> elements(const Entry& entry);
  Result<ValueType> value_type(std::string_view what);
  Result<void> alignment();
  Result<void> tensors();
  Result<void> shape(Tensor& tensor);
  Result<void> type(Tensor& tensor);
  Result<void> place(Tensor& tensor, uint64_t* end);
  Result<void> extent(bool accept_header_only);
  Result<void> truncated(uint64_t end) const;

  Result<uint64_t> count(std::string_view what, uint64_t bytes_min, uint64_t limit);
  Result<std::string_view> string(std::string_view what, uint64_t limit);
  Result<std::string_view> name(std::string_view what, uint64_t limit);

  uint64_t offset_of(std::string_view view) const {
    return static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(view.data()) - file_.data);
  }
  tl::unexpected<mortise::Error> over_limit(uint64_t at, std::string message) const {
    return fail(Code::limit, file_.where, std::move(message), at);
  }

  mortise::Reader reader_;
  File file_;
  uint64_t entry_count_ = 0, tensor_count_ = 0;
};

/// Indices of `items` in the order of their names; an error at the second of two equal names.
template <class Items, class NameOf, class Duplicate>
Result<std::vector<uint32_t>> sorted(const Items& items, NameOf name_of, Duplicate duplicate) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int compared = name_of(items[a]).compare(name_of(items[b]));
    return compared != 0 ? compared < 0 : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (name_of(items[order[i]]) == name_of(items[order[i - 1]])) return duplicate(name_of(items[order[i]]));
  return order;
}

}  // namespace gguf
