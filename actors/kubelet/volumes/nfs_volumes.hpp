// Shares of NFS servers, mounted below a pod's directory by mount.nfs (Debian: nfs-common), which
// knows the kernel's mount options. They are unmounted with the pod's other mounts. Blocks: not for
// actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct nfs_share {
  std::string server;  // a host name or an address
  std::string path;
  bool read_only = false;
  std::vector<std::string> options = {};  // for mount.nfs, from the PersistentVolume
};

nfs_share share_of(const api::core::v1::NFSVolumeSource& source);

// The path of mount.nfs; empty: not installed.
std::string find_mount_nfs();

// Mounts the share below the pod's directory at the volume's `name` and returns the path. A mounted
// share is not accessed: its server may not answer. The error is that of mount.nfs, or names the
// missing program. An attempt takes at most `kubelet_defaults::nfs_mount_limit`.
tl::expected<std::string, std::string> set_up_nfs(const nfs_share& share,
                                                  const std::filesystem::path& pod_dir,
                                                  const std::string& name, bool may_mount,
                                                  const std::string& program = find_mount_nfs());

}  // namespace troupe::actors
