// Directories that an NFS server exports, mounted below a pod's directory by mount.nfs (Debian:
// nfs-common), which knows what the kernel wants to be told. They go with the pod's other mounts.
// Blocks: not for actors' threads.
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
  std::vector<std::string> options = {};  // of mount.nfs, as a PersistentVolume names them
};

nfs_share share_of(const api::core::v1::NFSVolumeSource& source);

// The program; empty: it is not installed.
std::string find_mount_nfs();

// Where it is mounted: below the directory of the pod, `name` is that of the volume. A share that
// is mounted already is left alone: its server may not answer. The error is what mount.nfs says, or
// what is missing. An attempt takes `kubelet_defaults::nfs_mount_limit` at most.
tl::expected<std::string, std::string> set_up_nfs(const nfs_share& share,
                                                  const std::filesystem::path& pod_dir,
                                                  const std::string& name, bool may_mount,
                                                  const std::string& program = find_mount_nfs());

}  // namespace troupe::actors
