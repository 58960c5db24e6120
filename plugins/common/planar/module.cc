// Quantized linears of a hub folder. Thread rule and flow: see module.h.
#include "planar/module.h"

#include <algorithm>
#include <cstring>

#include "planar/planar.h"

namespace mortise::planar {
namespace {

constexpr int64_t kUnset = -1;

}  // namespace

std::string_view prefix_of(std::string_view name, std::string_view suffix) {
  if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) return {};
  return name.substr(0, name.size() - suffix.size());
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

const RawTensor* Module::find(std::string_view suffix) const {
  return folder_.find(prefix_ + std::string(suffix));
}

Result<const RawTensor*> Module::need(std::string_view suffix) const {
  const RawTensor* found = find(suffix);
  if (found == nullptr)
    return folder_.bad(codes_, "tensor " + hf::in_quotes(codes_.name) + " stands without " +
                                   hf::in_quotes(prefix_ + std::string(suffix)) +
                                   "; the model is incomplete or of another scheme");
  return found;
}

Result<const RawTensor*> Module::need_matrix(std::string_view suffix) const {
  MORTISE_TRY(raw, need(suffix));
  MORTISE_CHECK(check_matrix(*raw));
  return raw;
}

Result<void> Module::check_matrix(const RawTensor& raw) const {
  const auto possible = [](uint64_t size) { return size != 0 && size <= INT32_MAX; };
  if (raw.rank == 2 && possible(raw.size(0)) && possible(raw.size(1))) return {};
  return folder_.bad(raw, "tensor " + hf::in_quotes(raw.name) +
                              " is no matrix of 1 to 2^31 - 1 rows and columns; no linear is stored so");
}

tl::unexpected<Error> Module::bad(const std::string& what) const {
  return folder_.bad(codes_, "tensor " + hf::in_quotes(codes_.name) + ": " + what);
}

Result<const RawTensor*> Module::group_index(std::string_view suffix, uint64_t in, uint64_t group_size,
                                             bool unset_allowed, bool needed) const {
  const RawTensor* raw = find(suffix);
  if (raw == nullptr) return raw;
  const auto wrong = [&](const std::string& what) {
    return folder_.bad(*raw, "tensor " + hf::in_quotes(raw->name) + " " + what);
  };
  if (std::string_view(raw->dtype->element) != "i32")
    return wrong("is of type " + std::string(raw->dtype->name) + " instead of I32");
  if (!raw->has_shape({in})) return wrong("is no vector of " + std::to_string(in) + " group numbers");
  const mortise_bytes data = folder_.data(*raw);
  if (data.data == nullptr) return needed ? raw : nullptr;
  const uint64_t groups = divide_up(in, group_size);
  uint64_t wrong_at = in;
  bool is_plain = true;
  for (uint64_t k = 0; k < in; ++k) {
    int32_t group;
    std::memcpy(&group, data.data + k * sizeof(group), sizeof(group));
    if (group == kUnset && unset_allowed) return nullptr;
    if (group < 0 || static_cast<uint64_t>(group) >= groups) wrong_at = std::min(wrong_at, k);
    is_plain = is_plain && static_cast<uint64_t>(group) == k / group_size;
  }
  if (wrong_at != in)
    return wrong("puts column " + std::to_string(wrong_at) + " into a group that there is not (of " +
                 std::to_string(groups) + "); the file is damaged");
  return is_plain ? nullptr : raw;
}

hf::PlaneSpec plane(const char* role, const RawTensor& raw) {
  return {role, &raw, {raw.rank == 0 ? 1 : raw.size(0), raw.rank < 2 ? 1 : raw.size(1)}};
}

Result<std::optional<int64_t>> config_integer(const Folder& folder, const std::string& key, int64_t low,
                                              int64_t high) {
  const hf::Metadata::Entry* entry = folder.metadata().find(key);
  if (entry == nullptr) return std::optional<int64_t>();
  if (entry->type != MORTISE_INT || entry->is_array || entry->ints[0] < low || entry->ints[0] > high)
    return folder.bad(key + " is no whole number from " + std::to_string(low) + " to " +
                      std::to_string(high));
  return std::optional(entry->ints[0]);
}

}  // namespace mortise::planar
