#include "actors/kubelet/volumes/claim_volumes.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "actors/kubelet/os/path_check.hpp"
#include "actors/kubelet/security/protected_paths.hpp"
#include "actors/kubelet/volumes/local_volumes.hpp"
#include "actors/kubelet/volumes/nfs_volumes.hpp"
#include "actors/kubelet/volumes/pod_volumes.hpp"
#include "actors/kubelet/volumes/volume_group.hpp"
#include "actors/volumes/protection_rules.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using namespace api::core::v1;
using path_result = tl::expected<std::string, std::string>;

auto fail(std::string problem) {
  return tl::make_unexpected(std::move(problem));
}

tl::expected<void, std::string> check_local(const std::string& path, bool device,
                                            const std::vector<std::string>& hidden) {
  if (auto ours = check_not_protected(path, hidden); !ours)
    return fail("local volume " + ours.error());
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return fail(fmt::format("path \"{}\" does not exist: {}", path, std::strerror(errno)));
  if (device && !S_ISBLK(found.st_mode))
    return fail(fmt::format("path \"{}\" is not a block device", path));
  if (!device && !S_ISDIR(found.st_mode))
    return fail(fmt::format(
        "path \"{}\" is not a directory; for a block device set volumeMode: Block", path));
  return {};
}

// Returns the path with its links: as a raw device the runtime resolves it for each container, so
// that a link in /dev/disk leads to the same disk when the kernel has named it again.
path_result take_local(const LocalVolumeSource& source, bool device,
                       const std::vector<std::string>& hidden) {
  const auto& path = source.path();
  const auto check = [path, device, hidden] { return check_local(path, device, hidden); };
  if (auto fits = check_in_time(path, check); !fits) return fail(fits.error());
  return path;
}

// Refuses a volume that a container uses as another volumeMode (kubernetes:
// desired_state_of_world_populator.go, createVolumeSpec).
tl::expected<void, std::string> check_use(const Pod& pod, const std::string& volume, bool device) {
  const auto names = [&](const auto& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& each) { return each.name() == volume; });
  };
  const auto misuses = [&](const Container& each) {
    return device ? names(each.volume_mounts()) : names(each.volume_devices());
  };
  const auto& init = pod.spec().init_containers();
  const auto& all = pod.spec().containers();
  if (std::none_of(init.begin(), init.end(), misuses) &&
      std::none_of(all.begin(), all.end(), misuses))
    return {};
  return fail(fmt::format("volume {} has volumeMode {}, but is specified in {}", volume,
                          device ? "Block" : "Filesystem",
                          device ? "volumeMounts" : "volumeDevices"));
}

}  // namespace

tl::expected<api::object_ptr, std::string> find_claimed_volume(const Pod& pod, const Volume& volume,
                                                               const fs::path& pod_dir,
                                                               const object_reader& read) {
  const auto claims = volumes::claims_of(pod);
  const auto claimed = std::find_if(claims.begin(), claims.end(),
                                    [&](const auto& each) { return each.volume == volume.name(); });
  if (claimed == claims.end()) return fail("it is not a claim");
  const auto& wanted = *claimed;
  const auto& ns = pod.metadata().namespace_();
  const auto object = read(api::kind_of<PersistentVolumeClaim>().key(ns, wanted.claim));
  if (!object) return fail(fmt::format("persistentvolumeclaim \"{}\" not found", wanted.claim));
  const auto& claim = object->as<PersistentVolumeClaim>();
  if (wanted.ephemeral && !volumes::is_of(claim, pod))
    return fail(fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)", ns,
                            wanted.claim, ns, pod.metadata().name()));
  const auto& name = claim.spec().volume_name();
  if (claim.metadata().has_deletion_timestamp() && !has_local_volume(pod_dir, name))
    return fail(
        fmt::format("can't start pod because PVC {}/{} is being deleted", ns, wanted.claim));
  if (claim.status().phase() != "Bound" || name.empty()) return fail("PVC is not bound");
  auto bound = read(volume_key(object));
  if (!bound) return fail(fmt::format("persistentvolume \"{}\" not found", name));
  const auto& body = bound->as<PersistentVolume>();
  if (body.spec().claim_ref().uid() != claim.metadata().uid())
    return fail(fmt::format("persistentvolume \"{}\" is bound to another claim", name));
  if (auto used = check_use(pod, volume.name(), is_device(body)); !used) return fail(used.error());
  return bound;
}

std::string volume_key(const api::object_ptr& object) {
  if (!object || &object->kind() != &api::kind_of<PersistentVolumeClaim>()) return {};
  const auto& name = object->as<PersistentVolumeClaim>().spec().volume_name();
  return name.empty() ? name : api::kind_of<PersistentVolume>().key({}, name);
}

bool is_claim(const VolumeSource& source) {
  return source.has_persistent_volume_claim() || source.has_ephemeral();
}

bool is_device(const PersistentVolume& volume) {
  return volume.spec().volume_mode() == "Block";
}

path_result map_device(const PersistentVolume& volume, const std::vector<std::string>& hidden) {
  const auto& source = volume.spec().persistent_volume_source();
  if (source.has_local()) return take_local(source.local(), true, hidden);
  return fail("persistent volumes of this kind cannot be raw devices here");
}

path_result set_up_claim(const Pod& pod, const Volume& volume, const PersistentVolume& body,
                         const fs::path& pod_dir, bool may_mount,
                         const std::vector<std::string>& hidden) {
  const auto& source = body.spec().persistent_volume_source();
  if (source.has_host_path()) return set_up_host_path(source.host_path(), hidden);
  if (source.has_local()) return take_local(source.local(), false, hidden);
  if (source.has_nfs()) {
    auto share = share_of(source.nfs());
    share.read_only =
        share.read_only || volume.volume_source().persistent_volume_claim().read_only();
    share.options = {body.spec().mount_options().begin(), body.spec().mount_options().end()};
    return set_up_nfs(share, pod_dir, body.metadata().name(), may_mount);
  }
  if (!volumes::is_local_path(body))
    return fail("persistent volumes of this kind are not supported here");
  if (const auto& node = volumes::node_of(body); node != pod.spec().node_name())
    return fail(fmt::format("the volume is a directory of node {}", node));
  auto taken =
      take_local_volume(pod_dir.parent_path().parent_path(), pod_dir, body.metadata().name());
  const auto& context = pod.spec().security_context();
  if (!taken || !context.has_fs_group()) return taken;
  if (auto given = set_volume_group(*taken, static_cast<gid_t>(context.fs_group()), false); !given)
    return fail(given.error());
  return taken;
}

}  // namespace troupe::actors
