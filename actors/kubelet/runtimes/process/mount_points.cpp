#include "actors/kubelet/runtimes/process/mount_points.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "actors/kubelet/os/safe_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using void_result = tl::expected<void, std::string>;

// Serializes creation and removal for all pods of this process.
std::mutex& registry_lock() {
  static std::mutex lock;
  return lock;
}

fs::path registry(const fs::path& root_dir) {
  return root_dir / "mount-points";
}

std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path)
    out += c == '/' ? "%2F" : c == '%' ? "%25" : std::string{c};
  return out;
}

std::string unescaped(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto code = name.compare(i, 3, "%2F") == 0 ? '/' : '%';
    out += name[i] == '%' ? code : name[i];
    if (name[i] == '%') i += 2;
  }
  return out;
}

void_result refused(const std::string& path, const std::string& reason) {
  return tl::make_unexpected(fmt::format("cannot make a mount point at {}: {}", path, reason));
}

void_result note_use(const fs::path& root_dir, const std::string& path,
                     const std::string& pod_uid) {
  std::error_code problem;
  const auto entry = registry(root_dir) / escaped(path);
  fs::create_directories(entry, problem);
  const runtime::unique_fd made{
      ::open((entry / pod_uid).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)};
  if (!made) return refused(path, std::strerror(errno));
  return {};
}

// One step of a path: recorded as used by the pod if it is ours, created if missing.
void_result make_step(const fs::path& root_dir, const std::string& pod_uid, const fs::path& step,
                      bool directory) {
  struct stat info {};
  std::error_code problem;
  const bool there = ::stat(step.c_str(), &info) == 0;
  const bool ours = fs::exists(registry(root_dir) / escaped(step.string()), problem);
  if (there && directory && !S_ISDIR(info.st_mode)) return refused(step, "it is not a directory");
  if (there && !directory && S_ISDIR(info.st_mode)) return refused(step, "it is a directory");
  if (there && !ours) return {};
  if (auto noted = note_use(root_dir, step, pod_uid); !noted || there) return noted;
  if (directory) {
    if (::mkdir(step.c_str(), 0755) != 0 && errno != EEXIST)
      return refused(step, std::strerror(errno));
    return {};
  }
  const runtime::unique_fd made{::open(step.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)};
  return made ? void_result{} : refused(step, std::strerror(errno));
}

bool is_below(const std::string& path, const std::string& other) {
  return path.starts_with(other + "/");
}

}  // namespace

void order_mounts(std::vector<container_mount>& mounts) {
  std::stable_sort(mounts.begin(), mounts.end(),
                   [](const auto& a, const auto& b) { return a.target < b.target; });
}

tl::expected<runtime::unique_fd, std::string> open_source(const container_mount& mount) {
  if (mount.sub_path.empty()) {
    runtime::unique_fd source{::open(mount.source.c_str(), O_PATH | O_CLOEXEC)};
    if (!source)
      return tl::make_unexpected(
          fmt::format("cannot open {}: {}", mount.source, std::strerror(errno)));
    return source;
  }
  const auto volume = open_directory(mount.source);
  if (!volume) return tl::make_unexpected(volume.error());
  auto within = open_beneath(*volume, mount.sub_path, O_PATH, 0, true);
  const fs::path wanted{mount.sub_path};
  if (within || std::find(wanted.begin(), wanted.end(), "..") != wanted.end()) return within;
  // An absolute link may lead into the volume too: open its final target without following links.
  std::error_code problem;
  const auto source = fs::canonical(mount.source, problem);
  if (problem) return within;
  const auto below = fs::canonical(source / wanted, problem).lexically_relative(source);
  if (problem || *below.begin() == "..") return within;
  return open_beneath(*volume, below.string(), O_PATH);
}

void_result prepare_mounts(const fs::path& root_dir, const std::string& pod_uid,
                           const std::vector<container_mount>& mounts) {
  const std::lock_guard guard{registry_lock()};
  for (const auto& mount : mounts) {
    if (!open_source(mount) && !mount.sub_path.empty()) {
      const auto volume = open_directory(mount.source);
      if (!volume) return tl::make_unexpected(volume.error());
      if (auto made = make_beneath(*volume, mount.sub_path, 0755, true); !made)
        return tl::make_unexpected(made.error());
    }
    const auto source = open_source(mount);
    if (!source) return tl::make_unexpected(source.error());
    struct stat info {};
    if (::fstat(source->get(), &info) != 0) return refused(mount.target, std::strerror(errno));
    if (mount.target == "/") return refused("/", "containers share the file system of the machine");
    // The shim creates mount points that are inside of another mount.
    const bool inner = std::any_of(mounts.begin(), mounts.end(), [&](const auto& other) {
      return is_below(mount.target, other.target);
    });
    if (inner || mount.target == mount.source) continue;
    const fs::path target{mount.target};
    fs::path step;
    for (const auto& part : target) {
      step /= part;
      if (step == "/") continue;
      const bool last = step == target;
      if (auto made = make_step(root_dir, pod_uid, step, !last || S_ISDIR(info.st_mode)); !made)
        return made;
    }
  }
  return {};
}

void release_mount_points(const fs::path& root_dir, const std::string& pod_uid) {
  const std::lock_guard guard{registry_lock()};
  std::error_code problem;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator{registry(root_dir), problem})
    if (fs::exists(entry.path() / pod_uid, problem)) entries.push_back(entry.path());
  // Innermost directories first.
  std::sort(entries.rbegin(), entries.rend());
  for (const auto& entry : entries) {
    ::unlink((entry / pod_uid).c_str());
    if (!fs::is_empty(entry, problem)) continue;
    const auto path = unescaped(entry.filename());
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0) {
      // A directory that is not empty stays, and so does a file that was written to.
      if (S_ISDIR(info.st_mode)) ::rmdir(path.c_str());
      if (S_ISREG(info.st_mode) && info.st_size == 0) ::unlink(path.c_str());
    }
    ::rmdir(entry.c_str());
  }
}

}  // namespace troupe::actors
