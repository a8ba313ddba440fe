#include "persistence/engine/memory_limit.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace troupe::persistence {

namespace fs = std::filesystem;

namespace {

// Version 1 expresses "no limit" as the largest number of whole pages.
constexpr std::uint64_t no_limit_from = 1ull << 60;

struct hierarchy {
  fs::path mount;    // mount point
  std::string root;  // the control group at the mount point
  const char* file;
};

bool has_word(std::string_view words, std::string_view word) {
  return ("," + std::string{words} + ",").find("," + std::string{word} + ",") != std::string::npos;
}

// The hierarchy of version 1 with the memory controller, or that of version 2.
std::optional<hierarchy> find_hierarchy(const fs::path& proc, const fs::path& top, bool version_2) {
  std::ifstream mounts{proc / "mountinfo"};
  for (std::string line; std::getline(mounts, line);) {
    // ID PARENT MAJOR:MINOR ROOT MOUNT OPTIONS ... - TYPE SOURCE SUPER-OPTIONS
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream first{line.substr(0, dash)}, second{line.substr(dash + 3)};
    std::string skipped, root, mount, type, source, options;
    first >> skipped >> skipped >> skipped >> root >> mount;
    second >> type >> source >> options;
    if (version_2 ? type != "cgroup2" : type != "cgroup" || !has_word(options, "memory")) continue;
    return hierarchy{top / fs::path{mount}.relative_path(), root == "/" ? "" : root,
                     version_2 ? "memory.max" : "memory.limit_in_bytes"};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> smallest_limit(const hierarchy& in, std::string group) {
  std::optional<std::uint64_t> smallest;
  if (group.starts_with(in.root)) group.erase(0, in.root.size());
  for (fs::path at = fs::path{group}.relative_path();; at = at.parent_path()) {
    std::uint64_t bytes = 0;
    if (std::ifstream{in.mount / at / in.file} >> bytes && bytes < no_limit_from)
      smallest = std::min(smallest.value_or(bytes), bytes);
    if (at.empty()) return smallest;
  }
}

}  // namespace

std::optional<std::uint64_t> memory_limit_bytes(const fs::path& proc, const fs::path& root) {
  std::optional<std::uint64_t> smallest;
  std::ifstream groups{proc / "cgroup"};
  for (std::string line; std::getline(groups, line);) {
    // ID:CONTROLLERS:GROUP
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const bool version_2 = line.starts_with("0:") && controllers.empty();
    if (!version_2 && !has_word(controllers, "memory")) continue;
    const auto in = find_hierarchy(proc, root, version_2);
    const auto found = in ? smallest_limit(*in, line.substr(second + 1)) : std::nullopt;
    if (found) smallest = std::min(smallest.value_or(*found), *found);
  }
  return smallest;
}

}  // namespace troupe::persistence
