// Reads a safetensors header. Thread rule and flow: see header.h.
// Layout: u64 length of the header, JSON object {name: {"dtype", "shape", "data_offsets": [begin, end]}},
// data.
#include "hf/header.h"

#include <mortise/cpp/reader.h>

#include <algorithm>

#include "hf/json_events.h"

namespace mortise::hf {
namespace {

constexpr const char* kDamaged = "; the file is damaged, fetch it again";

/// Takes the header's JSON apart. Depth 1 is the object of tensors, 2 a tensor or __metadata__, 3 its lists.
class HeaderHandler final : public JsonHandler {
 public:
  HeaderHandler(const std::string& where, uint32_t file, Header* out)
      : where_(where), file_(file), out_(*out) {}

  Result<void> begin(bool is_object, uint64_t at) override {
    ++depth_;
    if (skipped_ > 0) return {};
    if (depth_ <= 2) {
      if (!is_object) return bad(at, (depth_ == 1 ? "the header" : what()) + " is not an object");
      seen_ = 0;
      return {};
    }
    if (!in_metadata_ && (field_ == kShape || field_ == kOffsets) && depth_ == 3 && !is_object) return {};
    if (!in_metadata_ && field_ == kOther) {
      skipped_ = depth_;
      return {};
    }
    return bad(at, what() + " has a value of the wrong type");
  }

  Result<void> end() override {
    const size_t depth = depth_--;
    if (skipped_ > 0) {
      if (skipped_ == depth) skipped_ = 0;
      return {};
    }
    if (depth == 2 && !in_metadata_) return finish_tensor();
    if (depth == 3 && field_ == kOffsets && offsets_ != 2)
      return bad(tensor_at_, "data_offsets of " + in_quotes(tensor_.name) + " are not two numbers");
    return {};
  }

  Result<void> key(std::string_view name, uint64_t at) override {
    if (skipped_ > 0) return {};
    if (depth_ == 1) return begin_entry(name, at);
    if (in_metadata_) {
      out_.metadata.emplace_back(std::string(name), "");
      return {};
    }
    field_ = name == "dtype" ? kDtype : name == "shape" ? kShape : name == "data_offsets" ? kOffsets : kOther;
    if (field_ != kOther && (seen_ & field_) != 0)
      return bad(at, what() + " has " + std::string(name) + " twice");
    seen_ |= field_;
    return {};
  }

  Result<void> scalar(Scalar value, uint64_t at) override {
    if (skipped_ > 0) return {};
    if (in_metadata_ && depth_ == 2) {
      if (value.kind != Scalar::text) return bad(at, "__metadata__ holds something that is no text");
      out_.metadata.back().second = std::move(value.text_value);
      return {};
    }
    if (in_metadata_ && depth_ == 1 && value.kind == Scalar::null) return {};
    if (depth_ == 2 && field_ == kOther) return {};
    if (depth_ == 2 && field_ == kDtype && value.kind == Scalar::text) return dtype(value.text_value, at);
    if (depth_ == 3) return count(value, at);
    return bad(at, (depth_ == 0 ? "the header" : what()) + " has a value of the wrong type");
  }

 private:
  enum Field : uint32_t { kOther = 0, kDtype = 1, kShape = 2, kOffsets = 4, kAll = 7 };

  std::string what() const { return in_metadata_ ? "__metadata__" : "tensor " + in_quotes(tensor_.name); }
  tl::unexpected<Error> bad(uint64_t at, std::string message) const {
    return fail(Code::bad_data, where_, std::move(message) + kDamaged, at);
  }

  Result<void> begin_entry(std::string_view name, uint64_t at) {
    in_metadata_ = name == "__metadata__";
    if (in_metadata_) {
      if (has_metadata_) return bad(at, "__metadata__ occurs twice");
      has_metadata_ = true;
      return {};
    }
    if (name.size() > kTensorNameBytesMax)
      return fail(Code::limit, where_,
                  "a tensor's name has " + std::to_string(name.size()) + " bytes; the limit is " +
                      std::to_string(kTensorNameBytesMax),
                  at);
    if (out_.tensors.size() >= kTensorsMax)
      return fail(Code::limit, where_, "more than " + std::to_string(kTensorsMax) + " tensors", at);
    tensor_ = RawTensor();
    tensor_.name = std::string(name);
    tensor_.sizes.fill(1);
    tensor_.file = file_;
    tensor_.described_at = tensor_at_ = at;
    offsets_ = 0;
    return {};
  }

  Result<void> dtype(const std::string& name, uint64_t at) {
    tensor_.dtype = find_dtype(name);
    if (tensor_.dtype != nullptr) return {};
    return fail(Code::unsupported, where_,
                what() + " has the dtype " + in_quotes(name) + ", which is none of " + dtype_names(), at);
  }

  Result<void> count(const Scalar& value, uint64_t at) {
    if (value.kind != Scalar::integer || value.integer_value < 0 || value.is_negative_zero)
      return bad(at, what() + " has a size or offset that is no whole number from 0 to 2^63 - 1");
    const auto number = static_cast<uint64_t>(value.integer_value);
    if (field_ == kShape) {
      if (tensor_.rank == kRankMax)
        return fail(Code::limit, where_,
                    what() + " has more than " + std::to_string(kRankMax) + " dimensions", at);
      tensor_.sizes[tensor_.rank++] = number;
    } else {
      if (offsets_ == 2)
        return bad(at, "data_offsets of " + in_quotes(tensor_.name) + " are not two numbers");
      (offsets_++ == 0 ? tensor_.offset : tensor_.length) = number;  // length: the end, until it is checked
    }
    return {};
  }

  Result<void> finish_tensor() {
    if (seen_ != kAll) return bad(tensor_at_, what() + " lacks dtype, shape or data_offsets");
    if (tensor_.length < tensor_.offset) return bad(tensor_at_, what() + " ends before it begins");
    tensor_.length -= tensor_.offset;
    uint64_t bits = 1;
    bool fits = true;
    for (uint32_t d = 0; d < tensor_.rank; ++d) fits = fits && multiply(bits, tensor_.sizes[d], &bits);
    if (!fits || !multiply(bits, tensor_.dtype->bits, &bits))
      return bad(tensor_at_, what() + " has a shape whose size overflows");
    if (bits % 8 != 0) return bad(tensor_at_, what() + " fills no whole number of bytes");
    if (bits / 8 != tensor_.length)
      return bad(tensor_at_, what() + " needs " + std::to_string(bits / 8) + " bytes by its shape, but has " +
                                 std::to_string(tensor_.length));
    out_.tensors.push_back(std::move(tensor_));
    return {};
  }

  const std::string& where_;
  uint32_t file_;
  Header& out_;
  size_t depth_ = 0;
  size_t skipped_ = 0;  // the depth of the unknown value that is passed over; 0: none is
  bool in_metadata_ = false, has_metadata_ = false;
  RawTensor tensor_;
  uint64_t tensor_at_ = 0;
  uint32_t field_ = kOther, seen_ = 0, offsets_ = 0;
};

template <class Names>
Result<void> refuse_equal(Names names, const std::string& where, const char* what) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == names.end()) return {};
  return fail(Code::bad_data, where,
              std::string(what) + " " + in_quotes(twice->first) + " occurs twice" + kDamaged,
              std::next(twice)->second);
}

/// Ranges touch from 0 to the end of the file. Then offsets become those of the file.
Result<void> place(Header& header, uint64_t size, const std::string& where, bool accept_header_only) {
  std::vector<std::pair<std::string_view, uint64_t>> names;
  names.reserve(header.tensors.size());
  for (const RawTensor& tensor : header.tensors) names.emplace_back(tensor.name, tensor.described_at);
  MORTISE_CHECK(refuse_equal(std::move(names), where, "tensor"));
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const RawTensor& a, const RawTensor& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.length < b.length;
  });
  const uint64_t available = size - header.data_start;
  uint64_t end = 0;
  for (RawTensor& tensor : header.tensors) {
    if (tensor.offset != end)
      return fail(Code::bad_data, where,
                  "the data of tensor " + in_quotes(tensor.name) + " begins at byte " +
                      std::to_string(tensor.offset) + ", but the one before ends at " + std::to_string(end) +
                      kDamaged,
                  tensor.described_at);
    end += tensor.length;  // both below 2^60: a shape's bits fit 64
    if (end > available && !accept_header_only)
      return fail(Code::bad_data, where,
                  "the data of tensor " + in_quotes(tensor.name) + " ends at byte " + std::to_string(end) +
                      ", but the file has only " + std::to_string(available) +
                      " bytes of data; it is truncated, fetch it again",
                  tensor.described_at);
    header.has_data = header.has_data && end <= available;
    tensor.offset += header.data_start;
  }
  if (end < available)
    return fail(Code::bad_data, where,
                std::to_string(available - end) + " bytes lie behind the last tensor" + kDamaged,
                header.data_start + end);
  return {};
}

}  // namespace

bool RawTensor::has_shape(std::initializer_list<uint64_t> shape) const {
  return rank == shape.size() && std::equal(shape.begin(), shape.end(), sizes.begin());
}

Result<Header> read_header(const uint8_t* data, uint64_t size, const std::string& where, uint32_t file,
                           bool accept_header_only) {
  Reader reader(data, size, where);
  MORTISE_TRY(length, reader.read<uint64_t>("the header's length"));
  constexpr uint64_t kLfsPointer = 0x206e6f6973726576;  // "version "
  if (length == kLfsPointer)
    return reader.bad_at(0, "a Git LFS pointer, not the file itself; fetch it with git lfs pull");
  if (length > kHeaderBytesMax)
    return fail(Code::limit, where,
                "not a safetensors file: its header would have " + std::to_string(length) +
                    " bytes; the limit is " + std::to_string(kHeaderBytesMax),
                0);
  MORTISE_TRY(text, reader.take(length, "the header"));
  if (text.substr(0, 1) != "{")
    return reader.bad_at(8, std::string("the header does not begin with {") + kDamaged);
  Header header;
  header.data_start = reader.offset();
  HeaderHandler handler(where, file, &header);
  MORTISE_CHECK(walk_json(text, where, 8, handler));
  std::vector<std::pair<std::string_view, uint64_t>> keys;
  for (const auto& [key, value] : header.metadata) keys.emplace_back(key, 8);
  MORTISE_CHECK(refuse_equal(std::move(keys), where, "the key of __metadata__"));
  MORTISE_CHECK(place(header, size, where, accept_header_only));
  return header;
}

}  // namespace mortise::hf
