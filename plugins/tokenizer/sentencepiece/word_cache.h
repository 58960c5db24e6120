// A small cache from words to their ids; text repeats its words.
// Thread rule: one thread at a time. Flow: asked before a word's pieces are merged.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "hash.h"

namespace mortise::sentencepiece {

/// A fixed number of entries of one cache line each; a newer word takes the place of an older one.
class WordCache {
 public:
  /// The ids of a word, or nothing (data() null). Valid until the next put().
  std::span<const int32_t> find(std::string_view word) const {
    const Entry& entry = entries_[slot_of(word)];
    if (entry.size != word.size() || std::memcmp(entry.text.data(), word.data(), word.size()) != 0) return {};
    return {entry.ids.data(), entry.count};
  }

  void put(std::string_view word, std::span<const int32_t> ids) {
    Entry& entry = entries_[slot_of(word)];
    if (word.size() > entry.text.size() || ids.size() > entry.ids.size()) return;
    entry.size = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::copy(word.begin(), word.end(), entry.text.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  struct Entry {
    uint8_t size = 0;  // 0: empty, no word is
    uint8_t count = 0;
    std::array<char, 26> text{};
    std::array<int32_t, 9> ids{};
  };
  static constexpr size_t kSlots = 16384;  // 1 MiB

  static size_t slot_of(std::string_view word) { return hash_bytes(word, 1) % kSlots; }

  std::vector<Entry> entries_ = std::vector<Entry>(kSlots);
};

}  // namespace mortise::sentencepiece
