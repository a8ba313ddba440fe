#include "actors/kubelet/volumes/local_volumes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <mutex>
#include <system_error>

#include "actors/kubelet/os/safe_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr const char* data = "local-volumes";
constexpr const char* notes = "volumes/kubernetes.io~csi/";
// Not a valid volume name, so it cannot collide.
constexpr const char* deleting_suffix = ".deleting~";
// Like an emptyDir: accessible to all users of the pod's containers.
constexpr mode_t volume_mode = 0777;
constexpr mode_t note_mode = 0750;

// Excludes the use of a volume by a pod and its removal from each other. Few of both run at a time,
// and the guarded section is a few directory operations.
std::mutex& volumes_mutex() {
  static std::mutex mutex;
  return mutex;
}

bool is_name(const std::string& volume) {
  return !volume.empty() && volume.front() != '.' && volume.find('/') == std::string::npos &&
         volume.find('~') == std::string::npos && volume.find('\0') == std::string::npos;
}

bool is_used(const fs::path& root_dir, const std::string& volume) {
  std::error_code problem;
  for (const auto& pod : fs::directory_iterator{root_dir / "pods", problem})
    if (has_local_volume(pod.path(), volume)) return true;
  // If the directory cannot be read, the volume may be in use.
  return static_cast<bool>(problem);
}

}  // namespace

tl::expected<std::string, std::string> take_local_volume(const fs::path& root_dir,
                                                         const fs::path& pod_dir,
                                                         const std::string& volume) {
  if (!is_name(volume)) return tl::make_unexpected(std::string{"invalid volume name"});
  const std::lock_guard lock{volumes_mutex()};
  std::error_code problem;
  fs::create_directories(pod_dir, problem);
  const auto pod = open_directory(pod_dir);
  if (!pod) return tl::make_unexpected(pod.error());
  if (auto noted = make_beneath(*pod, notes + volume, note_mode); !noted)
    return tl::make_unexpected(noted.error());
  const auto root = open_directory(root_dir);
  if (!root) return tl::make_unexpected(root.error());
  if (auto all = make_beneath(*root, data, note_mode); !all)
    return tl::make_unexpected(all.error());
  if (auto made = make_beneath(*root, fmt::format("{}/{}", data, volume), volume_mode); !made)
    return tl::make_unexpected(made.error());
  return (root_dir / data / volume).string();
}

bool has_local_volume(const fs::path& pod_dir, const std::string& volume) {
  struct stat found {};
  return is_name(volume) && ::lstat((pod_dir / notes / volume).c_str(), &found) == 0;
}

volume_removal remove_local_volume(const fs::path& root_dir, const std::string& volume) {
  if (!is_name(volume)) return volume_removal::done;
  const auto directory = root_dir / data / volume;
  const fs::path leaving = directory.string() + deleting_suffix;
  {
    const std::lock_guard lock{volumes_mutex()};
    if (is_used(root_dir, volume)) return volume_removal::in_use;
    std::error_code problem;
    // Removes the remains of an interrupted removal first.
    if (fs::exists(fs::symlink_status(leaving, problem)) && !remove_tree(leaving))
      return volume_removal::failed;
    fs::rename(directory, leaving, problem);
    if (problem == std::errc::no_such_file_or_directory) return volume_removal::done;
    if (problem) return volume_removal::failed;
  }
  return remove_tree(leaving) ? volume_removal::done : volume_removal::failed;
}

}  // namespace troupe::actors
