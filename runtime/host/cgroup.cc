// Reading the control groups' limits.
// Thread rule: any thread, no state. Flow: see cgroup.h.
#include "host/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace mortise {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

bool read_number(const std::string& path, uint64_t* out) {
  std::istringstream in(first_line(path));
  return static_cast<bool>(in >> *out);
}

/// The value of `key` in a file of lines "key value"; 0 where there is none.
uint64_t stat_value(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  std::string name;
  uint64_t value = 0;
  while (in >> name >> value)
    if (name == key) return value;
  return 0;
}

void limit_cpus(double quota, double period, CgroupLimits* limits) {
  if (quota <= 0 || period <= 0) return;
  const double cpus = quota / period;
  limits->cpus = limits->cpus == 0 ? cpus : std::min(limits->cpus, cpus);
}

/// Pages of files that nobody has used lately are given back when memory runs short, so they count as free.
void limit_memory(uint64_t most, uint64_t used, uint64_t reclaimable, CgroupLimits* limits) {
  used -= std::min(used, reclaimable);
  limits->memory_left_bytes = std::min(limits->memory_left_bytes, most - std::min(most, used));
}

void read_v2(const std::string& group, CgroupLimits* limits) {
  std::istringstream cpu(first_line(group + "/cpu.max"));
  double quota = 0, period = 0;
  if (cpu >> quota >> period) limit_cpus(quota, period, limits);  // "max 100000" fails to parse: no limit
  uint64_t most = 0, used = 0;
  if (read_number(group + "/memory.max", &most) && read_number(group + "/memory.current", &used))
    limit_memory(most, used, stat_value(group + "/memory.stat", "inactive_file"), limits);
}

void read_v1(const std::string& group, CgroupLimits* limits) {
  std::istringstream quota_text(first_line(group + "/cpu.cfs_quota_us"));  // -1: no limit
  double quota = 0;
  uint64_t period = 0;
  if (quota_text >> quota && read_number(group + "/cpu.cfs_period_us", &period))
    limit_cpus(quota, static_cast<double>(period), limits);
  uint64_t most = 0, used = 0;  // "no limit" is a number near 2^63
  if (read_number(group + "/memory.limit_in_bytes", &most) && most < UINT64_MAX / 4 &&
      read_number(group + "/memory.usage_in_bytes", &used))
    limit_memory(most, used, stat_value(group + "/memory.stat", "total_inactive_file"), limits);
}

/// Calls read(mount + group) for the group and each of its parents. In a container the path that /proc shows
/// may belong to the outside; what is missing below the mount reads as no limit, and the mount itself is the
/// container's.
template <class Read>
void for_each_level(const std::string& mount, std::string group, Read read) {
  while (true) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    read(mount + group);
    if (group.empty()) return;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

bool names_controller(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const std::string base = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* mount : {"", "/unified"})
        for_each_level(base + mount, group, [&](const std::string& path) { read_v2(path, &limits); });
    } else if (names_controller(controllers, "cpu") || names_controller(controllers, "memory")) {
      const std::string single = names_controller(controllers, "cpu") ? "cpu" : "memory";
      for (const std::string& mount : {controllers, single})
        for_each_level(base + "/" + mount, group, [&](const std::string& path) { read_v1(path, &limits); });
    }
  }
  return limits;
}

}  // namespace mortise
