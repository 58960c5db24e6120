// A seeded hash of texts. Thread rule: pure functions. Flow: used by the pieces' table and the word cache.
// The seed is random per instance, so that a hostile file can't choose texts that all collide.
#pragma once
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace mortise::sentencepiece {

/// The 128-bit product folded to 64 bits: every input bit reaches the low bits, which tables use.
inline uint64_t hash_mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view text, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
  uint64_t hash = seed ^ text.size(), word = 0;
  while (text.size() >= sizeof(word)) {
    std::memcpy(&word, text.data(), sizeof(word));
    hash = hash_mix(hash ^ word, kOdd ^ seed);
    text.remove_prefix(sizeof(word));
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  return hash_mix(hash ^ word, kOdd ^ seed);
}

/// Never zero, so that no product vanishes.
inline uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32 | device()) | 1;
}

}  // namespace mortise::sentencepiece
