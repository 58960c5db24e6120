// Text with provenance: appending and slicing keep the runs of user text.
// Thread rule: a value. Flow: under every string operation of the engine.
#include "text.h"

#include <algorithm>
#include <cstring>

namespace mortise::jinja {

void Text::add_run(uint32_t begin, uint32_t end) {
  if (begin == end) return;
  if (!user_.empty() && user_.back().end == begin) {
    user_.back().end = end;
  } else {
    user_.push_back({begin, end});
  }
}

void Text::append(std::string_view bytes, bool user) {
  const auto begin = static_cast<uint32_t>(bytes_.size());
  bytes_.append(bytes);
  if (user) add_run(begin, static_cast<uint32_t>(bytes_.size()));
}

void Text::append(const Text& other, size_t begin, size_t end) {
  const size_t base = bytes_.size();
  bytes_.append(other.bytes_, begin, end - begin);
  auto run = std::partition_point(other.user_.begin(), other.user_.end(),
                                  [begin](const Run& r) { return r.end <= begin; });
  for (; run != other.user_.end() && run->begin < end; ++run) {
    const size_t from = std::max<size_t>(run->begin, begin) - begin + base;
    const size_t to = std::min<size_t>(run->end, end) - begin + base;
    add_run(static_cast<uint32_t>(from), static_cast<uint32_t>(to));
  }
}

Text Text::slice(size_t begin, size_t end) const {
  Text out;
  out.append(*this, begin, end);
  return out;
}

size_t find_bytes(std::string_view hay, std::string_view needle, size_t from) {
  if (from > hay.size()) return std::string_view::npos;
  const void* at = memmem(hay.data() + from, hay.size() - from, needle.data(), needle.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<size_t>(static_cast<const char*>(at) - hay.data());
}

bool Text::user_at(size_t byte) const {
  const auto run =
      std::partition_point(user_.begin(), user_.end(), [byte](const Run& r) { return r.end <= byte; });
  return run != user_.end() && run->begin <= byte;
}

}  // namespace mortise::jinja
