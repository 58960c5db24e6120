// Control groups and free memory, read from made-up trees.
// Thread rule: single-threaded. Flow: tests of runtime/host/cgroup and memory.
#include <catch2/catch.hpp>

#include "host/cgroup.h"
#include "host/memory.h"
#include "host/pool.h"
#include "temporary_folder.h"

using namespace mortise;

TEST_CASE("cgroup v2: the tightest group on the way up counts") {
  TemporaryFolder root;
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("sys/fs/cgroup/a/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/a/memory.current", "700000\n");
  root.write("sys/fs/cgroup/a/memory.stat", "anon 100\ninactive_file 200000\n");
  const CgroupLimits limits = read_cgroup_limits(root.path);
  CHECK(limits.cpus == 1.5);
  CHECK(limits.memory_left_bytes == 500000);
}

TEST_CASE("cgroup v1: controllers in folders of their own") {
  TemporaryFolder root;
  root.write("proc/self/cgroup",
             "4:memory:/m\n2:cpu,cpuacct:/outside/of/the/container\n1:name=systemd:/\n0::/\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n");
  root.write("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "5000\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
  const CgroupLimits limits = read_cgroup_limits(root.path);
  CHECK(limits.cpus == 0.5);
  CHECK(limits.memory_left_bytes == 0);
  CHECK(usable_processors(root.path) == 1);
}

TEST_CASE("cgroup: no limit where there is nothing to read") {
  TemporaryFolder root;
  CHECK(read_cgroup_limits(root.path).cpus == 0);
  CHECK(read_cgroup_limits(root.path).memory_left_bytes == UINT64_MAX);
  root.write("proc/self/cgroup", "no colons\n2:cpu:/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(read_cgroup_limits(root.path).cpus == 0);
}

TEST_CASE("free memory: what the system has, or the group leaves if less") {
  TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:  9000 kB\nMemFree: 1 kB\nMemAvailable:   2000 kB\n");
  CHECK(free_memory_bytes(root.path) == 2000 * 1024);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "100000\n");
  root.write("sys/fs/cgroup/memory.current", "40000\n");
  CHECK(free_memory_bytes(root.path) == 60000);
  CHECK(free_memory_bytes() > 1024 * 1024);
}

TEST_CASE("aligned memory: alignment kept, wrong asks refused") {
  for (size_t align = 1; align <= kMemoryAlignMax; align *= 2) {
    void* memory = allocate_aligned(100, align);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(memory) % std::max<size_t>(align, 64) == 0);
    free_aligned(memory);
  }
  void* nothing = allocate_aligned(0, 64);
  CHECK(nothing != nullptr);
  free_aligned(nothing);
  CHECK(allocate_aligned(100, 3) == nullptr);
  CHECK(allocate_aligned(100, 0) == nullptr);
  CHECK(allocate_aligned(100, 8192) == nullptr);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators abort on this
  CHECK(allocate_aligned(SIZE_MAX / 2, 64) == nullptr);
#endif
}
