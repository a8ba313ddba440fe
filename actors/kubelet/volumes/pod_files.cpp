#include "actors/kubelet/volumes/pod_files.hpp"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>

#include "actors/core/log.hpp"
#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/os/safe_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view on_its_way_out = ".deleting~";

// The mount points in the order of mounting.
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
  if (!remove_tree(path)) log().warn("cannot remove {}: will retry", path.string());
}

}  // namespace

fs::path pod_path(const fs::path& root_dir, const std::string& pod_uid) {
  return root_dir / "pods" / pod_uid;
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
  // Numbered, so that a directory that could not be removed does not block the next one.
  static std::atomic<unsigned> last{0};
  std::error_code problem;
  fs::path leaving;
  do {
    leaving = fmt::format("{}{}{}", pod_dir.string(), on_its_way_out, ++last);
  } while (fs::exists(leaving, problem));
  fs::rename(pod_dir, leaving, problem);
  if (!problem) remove_now(leaving);
}

}  // namespace troupe::actors
