// Memory of the CPU: aligned blocks, what is free, and giving file pages back.
// Thread rule: any thread, no state. Flow: behind the host table's alloc and free_, and the memory plan.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mortise {

constexpr size_t kMemoryAlignMax = 4096;

/// `bytes` (0 counts as 1) aligned to `align`, a power of two up to kMemoryAlignMax and raised to a cache
/// line, so that no two blocks share one; null where there is no memory or `align` is wrong. Not zeroed.
/// Freed with free_aligned.
void* allocate_aligned(size_t bytes, size_t align) noexcept;
void free_aligned(void* memory) noexcept;

struct FreeAligned {
  void operator()(void* memory) const noexcept { free_aligned(memory); }
};
/// Memory of allocate_aligned that frees itself.
using AlignedMemory = std::unique_ptr<void, FreeAligned>;

/// Bytes that this process can still take without pushing others out: MemAvailable of <root>/proc/meminfo, or
/// what its control groups leave if that is less. `root` is "" but in tests.
uint64_t free_memory_bytes(const std::string& root = "");

/// Lets the pages that lie wholly inside the range go. Only for mappings of files that are read, never
/// written: the next read fetches them from the file again.
void drop_file_pages(const uint8_t* data, uint64_t length) noexcept;

}  // namespace mortise
