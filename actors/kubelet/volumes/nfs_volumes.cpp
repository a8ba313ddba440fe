#include "actors/kubelet/volumes/nfs_volumes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <semaphore>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/os/run_program.hpp"
#include "actors/kubelet/volumes/pod_volumes.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

namespace {

using path_result = tl::expected<std::string, std::string>;

constexpr mode_t share_mode = 0755;

// Accesses no file system except that of the pod's directory.
bool is_mounted(const fs::path& at) {
  std::error_code problem;
  const auto real = fs::canonical(at.parent_path(), problem) / at.filename();
  const auto all = read_mounts();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& each) { return each.point == real.string(); });
}

auto fail(std::string problem) {
  return tl::make_unexpected(std::move(problem));
}

tl::expected<void, std::string> mount(const nfs_share& share, const std::string& at,
                                      const std::string& program) {
  static std::counting_semaphore<> places{kubelet_defaults::nfs_mounts_at_once};
  if (!places.try_acquire()) return fail("other NFS volumes are being mounted: will retry");
  // By default mount.nfs retries for two minutes; of two options with one name the later wins.
  std::string options = "retry=0";
  if (share.read_only) options += ",ro";
  for (const auto& each : share.options)
    options += "," + each;
  auto done =
      run_program("mount.nfs", {program, share.server + ":" + share.path, at, "-n", "-o", options},
                  {}, kubelet_defaults::nfs_mount_limit);
  places.release();
  return done;
}

}  // namespace

nfs_share share_of(const api::core::v1::NFSVolumeSource& source) {
  return {source.server(), source.path(), source.read_only(), {}};
}

std::string find_mount_nfs() {
  for (const auto* path : {"/sbin/mount.nfs", "/usr/sbin/mount.nfs"})
    if (::access(path, X_OK) == 0) return path;
  return {};
}

path_result set_up_nfs(const nfs_share& share, const fs::path& pod_dir, const std::string& name,
                       bool may_mount, const std::string& program) {
  const auto below = "kubernetes.io~nfs/" + name;
  auto at = (pod_dir / "volumes" / below).string();
  if (is_mounted(at)) return at;
  if (!may_mount) return fail("this node may not mount NFS volumes");
  if (program.empty()) return fail("NFS volumes need the program mount.nfs (Debian: nfs-common)");
  if (share.server.starts_with('-'))
    return fail(fmt::format("\"{}\" is not a server name", share.server));
  if (auto made = make_volume_directory(pod_dir, below, share_mode); !made) return made;
  if (auto done = mount(share, at, program); !done) return fail(done.error());
  return at;
}

}  // namespace troupe::actors
