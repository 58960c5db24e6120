// Seeded hashes for the load-time tables. Thread rule: pure functions. Flow: used by Vocabulary and
// MergeTable. The seed is random per instance, so that a hostile file can't choose keys that all collide.
#pragma once
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace mortise::bpe {

/// The 128-bit product folded to 64 bits: every input bit reaches the low bits, which the tables use.
inline uint64_t hash_mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kHashOdd = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio

inline uint64_t hash_bytes(std::string_view text, uint64_t seed) {
  uint64_t hash = seed ^ text.size(), word = 0;
  while (text.size() >= sizeof(word)) {
    std::memcpy(&word, text.data(), sizeof(word));
    hash = hash_mix(hash ^ word, kHashOdd ^ seed);
    text.remove_prefix(sizeof(word));
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  return hash_mix(hash ^ word, kHashOdd ^ seed);
}

/// Never zero, so that no product vanishes.
inline uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32 | device()) | 1;
}

/// The number of slots for an open-addressing table of `count` entries: a power of two, at most half full.
inline size_t table_slots(size_t count) {
  size_t slots = 16;
  while (slots < 2 * count) slots *= 2;
  return slots;
}

}  // namespace mortise::bpe
