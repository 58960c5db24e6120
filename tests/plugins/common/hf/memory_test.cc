// Memory and time that reading a header may take, measured by counting every allocation of this program.
// Thread rule: single-threaded. Flow: replaces operator new for the whole test program.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <new>

#include "file_maker.h"

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

/// The most memory that was in use while `bytes` were read, above what was in use before.
size_t peak_of_read(const std::string& bytes, bool expect_valid) {
  const size_t before = live_bytes;
  peak_bytes = live_bytes;
  const auto header =
      mortise::hf::read_header(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "x", 0, false);
  REQUIRE(header.has_value() == expect_valid);
  return peak_bytes - before;
}

}  // namespace

TEST_CASE("the allocation counter of the header's tests counts") {
  const size_t before = live_bytes;
  const std::string some(100000, 'x');
  CHECK(live_bytes - before >= 100000);
}

TEST_CASE("reading the smallest entries takes at most four times the header and 1 MiB") {
  std::string tensors = "{", metadata = R"({"__metadata__":{)";
  for (int i = 0; i < 100000; ++i) {
    tensors += "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
    metadata += "\"" + std::to_string(i) + "\":\"\",";
  }
  tensors.back() = '}';
  metadata.back() = '}';
  const size_t tensors_peak = peak_of_read(hf_test::file_of(tensors, ""), true);
  WARN("100000 tensors: header " << tensors.size() << ", heap " << tensors_peak);
  CHECK(tensors_peak <= 4 * tensors.size() + kAllowance);
  CHECK(peak_of_read(hf_test::file_of(metadata, ""), false) <= 64 * size_t{1} << 20);
}

TEST_CASE("one long text takes at most six times its length and 1 MiB") {
  const size_t text_peak = peak_of_read(
      hf_test::file_of(R"({"__metadata__":{"x":")" + std::string(4 << 20, 'y') + "\"}}", ""), true);
  CHECK(text_peak <= 6 * (size_t{4} << 20) + kAllowance);
}

TEST_CASE("claims that the file does not keep take no memory") {
  for (const uint64_t claim : {uint64_t{99'000'000}, uint64_t{1} << 40, UINT64_MAX}) {
    std::string bytes(reinterpret_cast<const char*>(&claim), sizeof(claim));
    CHECK(peak_of_read(bytes + "{}", false) <= kAllowance / 16);
  }
  CHECK(peak_of_read(hf_test::file_of(std::string(4 << 20, '['), ""), false) <= kAllowance);
  CHECK(peak_of_read(hf_test::file_of("{\"a\":" + std::string(4 << 20, '['), ""), false) <= kAllowance);
}

TEST_CASE("100000 equal names are refused without quadratic time") {
  std::string header = "{";
  for (int i = 0; i < 100000; ++i) header += R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  header.back() = '}';
  const auto begin = std::chrono::steady_clock::now();
  peak_of_read(hf_test::file_of(header, ""), false);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}
