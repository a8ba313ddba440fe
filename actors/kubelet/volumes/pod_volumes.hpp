// Sets up the volumes of a pod below its directory. Idempotent: existing volumes stay, and files
// whose source has changed are replaced (volume_writer.hpp). Blocks on disk: not for actor
// threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct volume_problem {
  std::string reason;  // of the pod's event
  std::string message;
};

struct volumes_set_up {
  std::map<std::string, std::string> paths;    // volume name → path on this machine
  std::map<std::string, std::string> devices;  // likewise, of raw devices
  std::vector<volume_problem> problems;        // one for each volume that could not be set up
};

// `may_mount`: an emptyDir with medium Memory becomes a tmpfs, and so does each volume that may
// hold secrets (secret, projected, downwardAPI), unmounted with the pod; otherwise they are
// directories on disk. If the pod has an fsGroup, all volumes but hostPaths get that group
// (kubernetes: volume_linux.go, SetVolumeOwnership). A hostPath may not be in one of the `hidden`
// directories (protected_paths.hpp).
volumes_set_up set_up_volumes(const api::core::v1::Pod& pod, const std::filesystem::path& pod_dir,
                              const object_reader& read, bool may_mount,
                              const std::vector<std::string>& hidden = {},
                              const pod_tokens& tokens = {});

// Returns the directory `below` (volume_path) the pod's volumes; creates it with `mode` if missing.
tl::expected<std::string, std::string> make_volume_directory(const std::filesystem::path& pod_dir,
                                                             const std::string& below, mode_t mode);

// Returns the path of a hostPath, which may not be in one of the `hidden` directories. An attempt
// takes at most `kubelet_defaults::path_check_limit`, even if the file system does not answer.
tl::expected<std::string, std::string> set_up_host_path(
    const api::core::v1::HostPathVolumeSource& source, const std::vector<std::string>& hidden);

// Checks the type of a hostPath (kubernetes: host_path.go): creates it for `…OrCreate`, and without
// a type creates a missing directory. The error names the type of file that is there instead.
tl::expected<void, std::string> check_host_path(const std::string& path, const std::string& type);

}  // namespace troupe::actors
