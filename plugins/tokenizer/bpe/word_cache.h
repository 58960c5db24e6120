// A small cache from pieces of text to their tokens; text repeats its words.
// Thread rule: one thread at a time. Flow: asked before the merges are applied to a piece.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace mortise::bpe {

/// A fixed number of entries of one cache line each; a newer piece takes the place of an older one.
class WordCache {
 public:
  /// The tokens of a piece, or nullptr. Valid until the next put().
  const int32_t* find(std::string_view piece, size_t* count) const {
    const Entry& entry = entries_[slot_of(piece)];
    if (entry.size != piece.size() || std::memcmp(entry.text.data(), piece.data(), piece.size()) != 0)
      return nullptr;
    *count = entry.count;
    return entry.ids.data();
  }

  void put(std::string_view piece, std::span<const int32_t> ids) {
    Entry& entry = entries_[slot_of(piece)];
    if (piece.size() > entry.text.size() || ids.size() > entry.ids.size()) return;
    entry.size = static_cast<uint8_t>(piece.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::copy(piece.begin(), piece.end(), entry.text.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  struct Entry {
    uint8_t size = 0;  // 0: empty, no piece is
    uint8_t count = 0;
    std::array<char, 22> text{};
    std::array<int32_t, 10> ids{};
  };
  static constexpr size_t kSlots = 8192;  // 512 KiB

  // FNV-1a; only speed depends on it.
  static size_t slot_of(std::string_view piece) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char byte : piece) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3u;
    return (hash ^ hash >> 29) % kSlots;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(kSlots);
};

}  // namespace mortise::bpe
