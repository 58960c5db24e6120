// MetaList: values are kept in deques, so that what the entries point to stays. Thread rule and flow: see
// meta_list.h.
#include "meta_list.h"

#include <mortise/cpp/result.h>

#include <algorithm>

namespace mortise::convert {

void MetaList::add(std::string_view key, uint32_t type, bool is_array, size_t count, const void* data) {
  const mortise_meta value{type, is_array ? 1u : 0u, count, data};
  metas_.push_back({sizeof(mortise_write_meta), 0, str(texts_.emplace_back(key)), value});
}

void MetaList::add_integers(std::string_view key, std::vector<int64_t> values, uint32_t type, bool is_array) {
  const auto& kept = integers_.emplace_back(std::move(values));
  add(key, type, is_array, kept.size(), kept.data());
}

void MetaList::number(std::string_view key, double value) {
  add(key, MORTISE_FLOAT, false, 1, numbers_.emplace_back(1, value).data());
}

void MetaList::numbers(std::string_view key, std::vector<double> values) {
  const auto& kept = numbers_.emplace_back(std::move(values));
  add(key, MORTISE_FLOAT, true, kept.size(), kept.data());
}

void MetaList::text(std::string_view key, std::string_view value) {
  add(key, MORTISE_STRING, false, 1, views_.emplace_back(1, str(texts_.emplace_back(value))).data());
}

void MetaList::texts(std::string_view key, std::vector<std::string> values) {
  auto& views = views_.emplace_back();
  for (std::string& value : values) views.push_back(str(texts_.emplace_back(std::move(value))));
  add(key, MORTISE_STRING, true, views.size(), views.data());
}

void MetaList::copy(mortise_str key, const mortise_meta& value) {
  metas_.push_back({sizeof(mortise_write_meta), 0, key, value});
}

bool MetaList::has(std::string_view key) const {
  return std::any_of(metas_.begin(), metas_.end(), [&](const auto& meta) { return view(meta.key) == key; });
}

std::vector<const mortise_write_meta*> MetaList::list() const {
  std::vector<const mortise_write_meta*> out;
  for (const mortise_write_meta& meta : metas_) out.push_back(&meta);
  return out;
}

}  // namespace mortise::convert
