#include "actors/kubelet/pressure/pressure_reader.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "actors/kubelet/volumes/pod_files.hpp"

namespace troupe::actors {

namespace {

std::string text_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

supply parse_memory(const std::string& meminfo) {
  supply out;
  std::istringstream lines{meminfo};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string name;
    std::int64_t kib = 0;
    if (!(words >> name >> kib)) continue;
    if (name == "MemTotal:") out.all = kib * 1024;
    if (name == "MemAvailable:") out.left = kib * 1024;
  }
  return out;
}

supply parse_pids(const std::string& loadavg, std::int64_t most) {
  std::istringstream words{loadavg};
  std::string ignored, tasks;  // "1/234": running and all tasks
  words >> ignored >> ignored >> ignored >> tasks;
  const auto slash = tasks.find('/');
  std::int64_t used = 0;
  if (most <= 0 || slash == tasks.npos || !(std::istringstream{tasks.substr(slash + 1)} >> used))
    return {};
  return {std::max<std::int64_t>(most - used, 0), most};
}

node_supplies read_supplies(const std::filesystem::path& root_dir) {
  node_supplies out;
  out.memory = parse_memory(text_of("/proc/meminfo"));
  // kubernetes: stats/pidlimit_linux.go.
  std::int64_t most_pids = 0, most_threads = 0;
  std::ifstream{"/proc/sys/kernel/pid_max"} >> most_pids;
  std::ifstream{"/proc/sys/kernel/threads-max"} >> most_threads;
  out.pids = parse_pids(text_of("/proc/loadavg"), std::min(most_pids, most_threads));
  struct statvfs disk {};
  if (::statvfs(root_dir.c_str(), &disk) == 0) {
    const auto block = static_cast<std::int64_t>(disk.f_frsize);
    out.disk = {static_cast<std::int64_t>(disk.f_bavail) * block,
                static_cast<std::int64_t>(disk.f_blocks) * block};
    out.inodes = {static_cast<std::int64_t>(disk.f_favail),
                  static_cast<std::int64_t>(disk.f_files)};
  }
  return out;
}

std::vector<disk_usage> usage_of_pods(const std::filesystem::path& root_dir,
                                      const std::vector<std::string>& uids,
                                      const std::vector<layer_usage>& layers) {
  std::map<std::string, disk_usage> of_layers;
  for (const auto& layer : layers)
    if (!layer.apart) of_layers[layer.pod_uid] += {layer.bytes, layer.files};
  std::vector<disk_usage> all;
  for (const auto& uid : uids) {
    all.push_back(usage_beneath(pod_path(root_dir, uid), kubelet_defaults::measured_files));
    all.back() += of_layers[uid];
  }
  return all;
}

}  // namespace troupe::actors
