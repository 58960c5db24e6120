// Memory and time that reading a header may take, measured by counting every allocation of this program.
// Thread rule: single-threaded. Flow: replaces operator new for the whole test program.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <new>

#include "writer.h"

using gguf::ValueType;
using gguf_test::parse;
using gguf_test::Writer;

namespace {
size_t live_bytes = 0, peak_bytes = 0;
}  // namespace

// Not inlined: GCC would see free() on what it takes for another allocator's memory.
__attribute__((noinline)) void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  if (memory != nullptr) live_bytes += malloc_usable_size(memory);
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace {

constexpr size_t kAllowance = size_t{1} << 20;
// The contract's 100 ms for a refusal; a sanitizer's checks slow the largest headers down several times.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::milliseconds kRefusalTime(1000);
#else
constexpr std::chrono::milliseconds kRefusalTime(100);
#endif

/// The most memory that was in use while `bytes` were parsed, above what was in use before.
size_t peak_of_parse(const std::string& bytes, bool expect_valid) {
  const size_t before = live_bytes;
  peak_bytes = live_bytes;
  const auto begin = std::chrono::steady_clock::now();
  const auto file = parse(bytes);
  const auto took = std::chrono::steady_clock::now() - begin;
  INFO((file ? "" : file.error().text()));
  REQUIRE(file.has_value() == expect_valid);
  if (!expect_valid) CHECK(took < kRefusalTime);
  return peak_bytes - before;
}

/// Distinct names of three bytes, the shortest that 65536 of them can have.
std::string short_name(uint32_t i) {
  return {static_cast<char>(33 + i % 90), static_cast<char>(33 + i / 90 % 90),
          static_cast<char>(33 + i / 8100)};
}

}  // namespace

TEST_CASE("the allocation counter counts") {
  const size_t before = live_bytes;
  const std::vector<char> some(100000);
  CHECK(live_bytes - before >= 100000);
}

TEST_CASE("reading the smallest entries takes at most four times the header and 1 MiB") {
  Writer keys;
  keys.counts(0, 65536);
  for (uint32_t i = 0; i < 65536; ++i) keys.key(short_name(i), ValueType::u8).put<uint8_t>(1);
  const size_t peak = peak_of_parse(keys.bytes, true);
  WARN("65536 keys: header " << keys.bytes.size() << ", heap " << peak);
  CHECK(peak <= 4 * keys.bytes.size() + kAllowance);

  Writer tensors;
  tensors.counts(65536, 1).alignment(1);
  for (uint32_t i = 0; i < 65536; ++i) tensors.tensor(short_name(i), {}, 0, i * 4);
  const size_t header = tensors.bytes.size();
  tensors.data(65536 * 4);
  const size_t tensors_peak = peak_of_parse(tensors.bytes, true);
  WARN("65536 tensors: header " << header << ", heap " << tensors_peak);
  CHECK(tensors_peak <= 4 * header + kAllowance);

  Writer strings;
  strings.counts(0, 1).array("s", ValueType::string, 1000000).bytes.append(8000000, '\0');
  CHECK(peak_of_parse(strings.bytes, true) <= kAllowance);
}

TEST_CASE("claims that the header does not keep take no memory") {
  // The counts fit the file's size, but the second entry is damaged.
  for (bool keys : {true, false}) {
    Writer w;
    w.counts(keys ? 0 : 65536, keys ? 65536 : 0);
    w.bytes.append(4 << 20, '\0');
    CHECK(peak_of_parse(w.bytes, false) <= kAllowance);
  }
  for (uint64_t claim : {uint64_t{1} << 24, uint64_t{1} << 40, uint64_t{INT64_MAX}}) {
    Writer w;
    w.counts(0, 1).array("x", ValueType::u8, claim);
    CHECK(peak_of_parse(w.bytes, false) <= kAllowance / 16);
  }
}

TEST_CASE("65536 equal keys are refused without quadratic time") {
  Writer w;
  w.counts(0, 65536);
  for (uint32_t i = 0; i < 65536; ++i) w.key("same", ValueType::u8).put<uint8_t>(1);
  peak_of_parse(w.bytes, false);
}

TEST_CASE("counts above the limits are refused by name") {
  Writer w;
  w.counts(0, 65537).bytes.append(2 << 20, '\1');
  const auto file = parse(w.bytes);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == mortise::Code::limit);
  CHECK(file.error().message.find("limit of 65536") != std::string::npos);
}
