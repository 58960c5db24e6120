// Aligned memory, free memory, dropped pages.
// Thread rule: any thread, no state. Flow: see memory.h.
#include "host/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "host/cgroup.h"

namespace mortise {

void* allocate_aligned(size_t bytes, size_t align) noexcept {
  constexpr size_t kCacheLineBytes = 64;
  if (align == 0 || (align & (align - 1)) != 0 || align > kMemoryAlignMax) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(align, kCacheLineBytes), std::max<size_t>(bytes, 1)) != 0)
    return nullptr;
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

uint64_t free_memory_bytes(const std::string& root) {
  uint64_t available = 0;
  std::ifstream in(root + "/proc/meminfo");
  for (std::string name; in >> name;) {
    uint64_t kibibytes = 0;
    if (name == "MemAvailable:" && in >> kibibytes) available = kibibytes * 1024;
    std::getline(in, name);
  }
  return std::min(available, read_cgroup_limits(root).memory_left_bytes);
}

void drop_file_pages(const uint8_t* data, uint64_t length) noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(data) + length) / page * page;
  // Advice: a failure leaves the pages in place, which costs memory and nothing else.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace mortise
