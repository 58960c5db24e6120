// Random numbers by address: the number for (seed, choice, position, draw) is the same on every run and
// machine. Thread rule: pure. Flow: the draw of a token and samplers that ask for chance.
#pragma once
#include <cstdint>

namespace mortise {

/// Where in a request a number is drawn.
struct RandomAddress {
  uint64_t seed = 0;
  uint32_t choice = 0;
  uint32_t position = 0;  // of the token that is drawn, in its sequence
};

/// A bijective mix of 64 bits (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// In [0, 1), 53 bits.
constexpr double uniform(const RandomAddress& at, uint32_t draw) {
  uint64_t x = mix_bits(at.seed + 0x9e3779b97f4a7c15u);
  x = mix_bits(x ^ (uint64_t{at.choice} << 32 | at.position));
  x = mix_bits(x + 0x9e3779b97f4a7c15u * (uint64_t{draw} + 1));
  return static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace mortise
