// Makes the header of a GGUF v3 file out of a plan. Thread rule: pure. Flow: see write.h; the rules are those
// of docs/formats/gguf.md, so that what is written here is read by the parser.
#include <mortise/cpp/reader.h>
#include <mortise/cpp/utf8.h>

#include <algorithm>
#include <set>

#include "file.h"
#include "write.h"

namespace gguf {
namespace {

using mortise::Code;
using mortise::fail;
using mortise::view;

constexpr uint64_t kWrittenAlignment = 32;  // what a file without general.alignment has

/// Keys that say how a file is laid out; a plan that was copied from another file may hold that file's.
bool is_layout(std::string_view key) {
  return key == "general.alignment" || key == "split.no" || key == "split.count" ||
         key == "split.tensors.count";
}

class Header {
 public:
  explicit Header(std::string where) : where_(std::move(where)) {}

  Result<void> entries(const mortise_write_plan& plan, uint64_t tensor_count);
  Result<void> tensor(const mortise_tensor& tensor, uint64_t* end, Target* out);

  std::string bytes;

 private:
  template <class T>
  void put(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put_string(std::string_view text) {
    put<uint64_t>(text.size());
    bytes += text;
  }
  Result<void> name(std::string_view what, std::string_view text, uint64_t limit) const;
  Result<void> value(std::string_view key, const mortise_meta& meta);
  void element(ValueType type, const mortise_meta& meta, size_t i);
  tl::unexpected<mortise::Error> bad(std::string message) const {
    return fail(Code::bad_argument, where_, std::move(message));
  }

  const std::string where_;
};

/// The narrowest of the types that readers take for counts and ids; files hold u32 where they can.
ValueType integer_type(const mortise_meta& meta) {
  const auto* data = static_cast<const int64_t*>(meta.data);
  const auto all_in = [&](int64_t low, int64_t high) {
    return std::all_of(data, data + meta.count, [&](int64_t v) { return v >= low && v <= high; });
  };
  if (meta.is_array == 0 && all_in(0, UINT32_MAX)) return ValueType::u32;
  if (all_in(INT32_MIN, INT32_MAX)) return ValueType::i32;
  return meta.is_array == 0 && all_in(0, INT64_MAX) ? ValueType::u64 : ValueType::i64;
}

Result<void> Header::name(std::string_view what, std::string_view text, uint64_t limit) const {
  if (text.empty() || text.size() > limit)
    return bad(std::string(what) + " " + quoted(text) + " has " + std::to_string(text.size()) +
               " bytes; 1 to " + std::to_string(limit) + " are possible");
  const bool plain =
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!plain || !mortise::valid_utf8(text))
    return bad(std::string(what) + " " + quoted(text) + " is not UTF-8 without control characters");
  return {};
}

void Header::element(ValueType type, const mortise_meta& meta, size_t i) {
  if (type == ValueType::string) return put_string(view(static_cast<const mortise_str*>(meta.data)[i]));
  if (type == ValueType::f32) return put(static_cast<float>(static_cast<const double*>(meta.data)[i]));
  const int64_t value = static_cast<const int64_t*>(meta.data)[i];
  if (type == ValueType::boolean) return put<uint8_t>(value != 0);
  if (type == ValueType::u32 || type == ValueType::i32) return put(static_cast<uint32_t>(value));
  put(value);
}

Result<void> Header::value(std::string_view key, const mortise_meta& meta) {
  const std::string what = "metadata key " + quoted(key);
  if (meta.is_array == 0 && meta.count != 1)
    return bad(what + " is a scalar of " + std::to_string(meta.count));
  if (meta.count > kArrayElementsMax)
    return bad(what + " has " + std::to_string(meta.count) + " elements, above the limit of " +
               std::to_string(kArrayElementsMax));
  ValueType type = ValueType::string;
  if (meta.type == MORTISE_INT)
    type = integer_type(meta);
  else if (meta.type == MORTISE_FLOAT)
    type = ValueType::f32;
  else if (meta.type == MORTISE_BOOL)
    type = ValueType::boolean;
  else if (meta.type != MORTISE_STRING)
    return bad(what + " has a type that GGUF does not have");
  if (meta.type == MORTISE_STRING)
    for (size_t i = 0; i < meta.count; ++i)
      if (static_cast<const mortise_str*>(meta.data)[i].size > kStringBytesMax)
        return bad(what + " holds a string above the limit of " + std::to_string(kStringBytesMax) + " bytes");
  put(static_cast<uint32_t>(meta.is_array != 0 ? ValueType::array : type));
  if (meta.is_array != 0) {
    put(static_cast<uint32_t>(type));
    put<uint64_t>(meta.count);
  }
  for (size_t i = 0; i < meta.count; ++i) element(type, meta, i);
  return {};
}

Result<void> Header::entries(const mortise_write_plan& plan, uint64_t tensor_count) {
  std::vector<const mortise_write_meta*> kept;
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < plan.meta_count; ++i) {
    const std::string_view key = view(plan.metas[i]->key);
    MORTISE_CHECK(name("metadata key", key, kKeyBytesMax));
    if (!names.insert(key).second) return bad("metadata key " + quoted(key) + " occurs twice");
    if (!is_layout(key)) kept.push_back(plan.metas[i]);
  }
  if (kept.size() > kMetadataKeysMax)
    return bad(std::to_string(kept.size()) + " metadata keys; the limit is " +
               std::to_string(kMetadataKeysMax));
  bytes = "GGUF";
  put<uint32_t>(3);
  put(tensor_count);
  put<uint64_t>(kept.size());
  for (const mortise_write_meta* meta : kept) {
    put_string(view(meta->key));
    MORTISE_CHECK(value(view(meta->key), meta->value));
  }
  return {};
}

/// `*end`: of the data so far, padded; moves behind this tensor.
Result<void> Header::tensor(const mortise_tensor& tensor, uint64_t* end, Target* out) {
  const std::string_view tensor_name = view(tensor.name);
  MORTISE_CHECK(name("tensor", tensor_name, kTensorNameBytesMax));
  const std::string what = "tensor " + quoted(tensor_name);
  const Type* type = find_format(tensor.format);
  if (type == nullptr || type->encode == nullptr)
    return bad(what + ": " + tensor.format + " is not written; choose one of " + written_formats());
  if (tensor.rank < 1 || tensor.rank > kDimsMax || tensor.param_count != 0)
    return bad(what + " needs one to four dimensions and no parameters");
  put_string(tensor_name);
  put(tensor.rank);
  uint64_t rows = 1;
  bool fits = true;
  for (uint32_t i = tensor.rank; i-- > 0;) {  // the fastest running first
    fits = fits && tensor.shape[i] != 0;
    if (i + 1 < tensor.rank) fits = fits && mortise::multiply(rows, tensor.shape[i], &rows);
    put(tensor.shape[i]);
  }
  put(type->number);
  put(*end);
  const uint64_t k = tensor.shape[tensor.rank - 1];
  if (k % type->block_weights != 0)
    return bad(what + ": rows of " + std::to_string(k) + " are no whole number of blocks of " +
               std::to_string(type->block_weights) + ", as " + std::string(type->name) + " needs");
  uint64_t size = 0, weights = 0;
  fits = fits && mortise::multiply(rows, k, &weights) &&
         mortise::multiply(weights, sizeof(float), &weights) && weights <= INT64_MAX &&
         mortise::multiply(rows, k / type->block_weights * type->block_bytes, &size) &&
         *end <= INT64_MAX - kWrittenAlignment - size;
  if (!fits) return bad(what + " has a size of 0, or more numbers than a file can have");
  out->name = tensor_name;
  out->type = type;
  out->rows = rows;
  out->row_weights = k;
  out->offset = *end;
  *end += (size + kWrittenAlignment - 1) / kWrittenAlignment * kWrittenAlignment;
  return {};
}

}  // namespace

Result<Layout> lay_out(const mortise_write_plan& plan, const std::string& where,
                       std::vector<std::unique_ptr<Target>>& targets) {
  if (plan.blob_count != 0)
    return fail(Code::bad_argument, where,
                "a GGUF file cannot hold the companion file " + quoted(view(plan.blobs[0]->name)));
  if (plan.tensor_count > kTensorsMax)
    return fail(Code::bad_argument, where,
                std::to_string(plan.tensor_count) + " tensors; the limit is " + std::to_string(kTensorsMax));
  Header header(where);
  MORTISE_CHECK(header.entries(plan, plan.tensor_count));
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (uint64_t i = 0; i < plan.tensor_count; ++i) {
    const mortise_tensor& tensor = *plan.tensors[i];
    targets.push_back(std::make_unique<Target>());
    MORTISE_CHECK(header.tensor(tensor, &end, targets.back().get()));
    if (!names.insert(view(tensor.name)).second)
      return fail(Code::bad_argument, where, "tensor " + quoted(view(tensor.name)) + " occurs twice");
  }
  header.bytes.resize((header.bytes.size() + kWrittenAlignment - 1) / kWrittenAlignment * kWrittenAlignment);
  for (const auto& target : targets) target->offset += header.bytes.size();
  end += header.bytes.size();
  return Layout{std::move(header.bytes), end};
}

}  // namespace gguf
