#include "actors/kubelet/process/pod_files.hpp"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <charconv>
#include <optional>

#include "actors/core/log.hpp"
#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/process/mount_points.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view on_its_way_out = ".deleting~";

// "7" of "7", "7.log" and "7.log.2".
std::optional<int> attempt_of(const std::string& name) {
  int number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (problem != std::errc{} || (*end != '\0' && *end != '.')) return std::nullopt;
  return number;
}

// In the order in which they were mounted.
std::vector<std::string> mounts_below(const fs::path& directory) {
  std::vector<std::string> found;
  for (auto& each : read_mounts())
    if (is_beneath(each.point, directory.string())) found.push_back(std::move(each.point));
  return found;
}

void remove_now(const fs::path& path) {
  std::error_code problem;
  const auto real = fs::canonical(path.parent_path(), problem) / path.filename();
  const auto mounts = mounts_below(real);
  for (auto at = mounts.rbegin(); at != mounts.rend(); ++at)
    ::umount2(at->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  if (!remove_tree(path)) log().warn("cannot remove {} yet", path.string());
}

}  // namespace

fs::path pod_path(const fs::path& root_dir, const std::string& pod_uid) {
  return root_dir / "pods" / pod_uid;
}

fs::path attempt_path(const fs::path& pod_dir, const std::string& container, int attempt) {
  return pod_dir / "containers" / container / std::to_string(attempt);
}

fs::path log_path(const fs::path& root_dir, const std::string& pod_uid,
                  const std::string& container, int attempt) {
  return pod_path(root_dir, pod_uid) / "logs" / container / (std::to_string(attempt) + ".log");
}

tl::expected<void, std::string> make_root(const fs::path& root_dir) {
  const auto pods = root_dir / "pods";
  std::error_code problem;
  fs::create_directories(pods, problem);
  if (problem)
    return tl::make_unexpected(fmt::format("cannot make {}: {}", pods.string(), problem.message()));
  ::chmod(root_dir.c_str(), 0750);
  ::chmod(pods.c_str(), 0750);
  return {};
}

void prune_attempts(const fs::path& pod_dir, const std::string& container, int attempt) {
  for (const char* kind : {"containers", "logs"}) {
    std::vector<fs::path> old;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator{pod_dir / kind / container, problem})
      if (const auto number = attempt_of(entry.path().filename()); number && *number < attempt - 1)
        old.push_back(entry.path());
    for (const auto& path : old)
      remove_tree(path);
  }
}

std::vector<std::string> pods_on_disk(const fs::path& root_dir) {
  std::vector<std::string> uids;
  std::vector<fs::path> leaving;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{root_dir / "pods", problem}) {
    auto name = entry.path().filename().string();
    if (name.find(on_its_way_out) == std::string::npos)
      uids.push_back(std::move(name));
    else
      leaving.push_back(entry.path());
  }
  for (const auto& path : leaving)
    remove_now(path);
  return uids;
}

void remove_pod_files(const fs::path& pod_dir) {
  // A number, so that one that could not be removed does not hold up the next.
  static std::atomic<unsigned> last{0};
  release_mount_points(pod_dir.parent_path().parent_path(), pod_dir.filename());
  std::error_code problem;
  fs::path leaving;
  do {
    leaving = fmt::format("{}{}{}", pod_dir.string(), on_its_way_out, ++last);
  } while (fs::exists(leaving, problem));
  fs::rename(pod_dir, leaving, problem);
  if (!problem) remove_now(leaving);
}

}  // namespace troupe::actors
