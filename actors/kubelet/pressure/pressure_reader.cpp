#include "actors/kubelet/pressure/pressure_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "actors/kubelet/os/disk.hpp"
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

node_supplies read_supplies(const std::filesystem::path& root_dir,
                            const std::filesystem::path& images) {
  node_supplies out;
  out.memory = parse_memory(text_of("/proc/meminfo"));
  // kubernetes: stats/pidlimit_linux.go.
  std::int64_t most_pids = 0, most_threads = 0;
  std::ifstream{"/proc/sys/kernel/pid_max"} >> most_pids;
  std::ifstream{"/proc/sys/kernel/threads-max"} >> most_threads;
  out.pids = parse_pids(text_of("/proc/loadavg"), std::min(most_pids, most_threads));
  const auto read = [](const std::filesystem::path& path, supply& bytes, supply& inodes) {
    if (const auto disk = read_disk(path)) {
      bytes = {disk->bytes_left, disk->bytes};
      inodes = {disk->inodes_left, disk->inodes};
    }
  };
  read(root_dir, out.disk, out.inodes);
  if (!images.empty() && on_other_disk(images, root_dir).value_or(false))
    read(images, out.images, out.image_inodes);
  return out;
}

std::vector<disk_usage> usage_of_pods(node_disk of, const std::filesystem::path& root_dir,
                                      const std::vector<std::string>& uids,
                                      const std::vector<layer_usage>& layers) {
  std::map<std::string, disk_usage> of_layers;
  for (const auto& layer : layers)
    if (layer.apart == (of == node_disk::images))
      of_layers[layer.pod_uid] += {layer.bytes, layer.files};
  std::vector<disk_usage> all;
  for (const auto& uid : uids) {
    auto& usage = all.emplace_back(of_layers[uid]);
    if (of == node_disk::pods)
      usage += usage_beneath(pod_path(root_dir, uid), kubelet_defaults::measured_files);
  }
  return all;
}

}  // namespace troupe::actors
