// What the control groups (v1, v2 and both mixed) leave to this process.
// Thread rule: any thread, no state. Flow: asked once by the pool (processors) and by the memory plan
// (bytes).
#pragma once
#include <cstdint>
#include <string>

namespace mortise {

struct CgroupLimits {
  double cpus = 0;                          ///< processors' worth of time; 0: no limit
  uint64_t memory_left_bytes = UINT64_MAX;  ///< of the tightest group, reclaimable file pages counted as free
};

/// Reads <root>/proc/self/cgroup and <root>/sys/fs/cgroup; `root` is "" but in tests. A group that cannot be
/// read sets no limit. Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
CgroupLimits read_cgroup_limits(const std::string& root = "");

}  // namespace mortise
