#include "actors/kubelet/os/mount_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace troupe::actors {

namespace {

// mountinfo escapes blanks and backslashes as \ooo.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string joined(const std::string& above, const std::string& below) {
  return above == "/" ? (below.empty() ? "/" : below) : above + below;
}

// The part of `path` after `above`, which must be equal to or above it: "" or "/x/y".
std::string rest(const std::string& path, const std::string& above) {
  return above == "/" ? (path == "/" ? "" : path) : path.substr(above.size());
}

bool within(const std::string& path, const std::string& other) {
  return path == other || is_beneath(path, other);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

bool is_beneath(const std::string& path, const std::string& other) {
  return other == "/" ? path.size() > 1 : path.starts_with(other + "/");
}

std::vector<mount_entry> read_mounts() {
  std::vector<mount_entry> found;
  std::ifstream file{"/proc/self/mountinfo"};
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields{line};
    mount_entry entry;
    std::string field;
    fields >> entry.id >> field >> entry.device >> entry.root >> entry.point;
    while (fields >> field && field != "-") {
    }
    fields >> entry.type;
    entry.root = unescaped(entry.root);
    entry.point = unescaped(entry.point);
    found.push_back(std::move(entry));
  }
  return found;
}

std::vector<std::string> visible_paths(const std::string& directory,
                                       const std::vector<mount_entry>& mounts) {
  std::vector<std::string> paths{directory};
  struct statx info {};
  if (::statx(AT_FDCWD, directory.c_str(), 0, STATX_MNT_ID, &info) != 0) return paths;
  const auto own = std::find_if(mounts.begin(), mounts.end(), [&](const auto& each) {
    return static_cast<std::uint64_t>(each.id) == info.stx_mnt_id;
  });
  if (own == mounts.end()) return paths;
  const auto inside = joined(own->root, rest(directory, own->point));
  for (const auto& each : mounts) {
    if (each.device != own->device || each.id == own->id) continue;
    if (within(inside, each.root)) {
      const auto path = joined(each.point, rest(inside, each.root));
      if (same_file(path, directory)) paths.push_back(path);
    } else if (is_beneath(each.root, inside) && !is_beneath(each.point, directory)) {
      paths.push_back(each.point);
    }
  }
  std::sort(paths.begin() + 1, paths.end());
  paths.erase(std::unique(paths.begin() + 1, paths.end()), paths.end());
  return paths;
}

}  // namespace troupe::actors
