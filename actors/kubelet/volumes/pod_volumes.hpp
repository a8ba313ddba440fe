// Sets up the volumes of a pod below its directory, again and again: what stands already stays, and
// files whose source has changed are replaced (volume_writer.hpp). Blocks on disk: not for actors'
// threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct volumes_set_up {
  std::map<std::string, std::string> paths;  // name of a volume → its path on this machine
  std::vector<std::string> problems;         // one line for each volume that could not be set up
};

// `may_mount`: an emptyDir with medium Memory becomes a tmpfs, as does what may hold secrets
// (secret, projected, downwardAPI), each volume one, which goes with the pod; elsewhere they are
// ordinary directories on disk. Where the pod has an fsGroup, all but hostPaths are that group's
// (kubernetes: volume_linux.go, SetVolumeOwnership). No hostPath lies in one of the `hidden`
// directories (protected_paths.hpp).
volumes_set_up set_up_volumes(const api::core::v1::Pod& pod, const std::filesystem::path& pod_dir,
                              const object_reader& read, bool may_mount,
                              const std::vector<std::string>& hidden = {},
                              const pod_tokens& tokens = {});

// The directory `below` (volume_path) the volumes of a pod; made with `mode` where it is missing.
tl::expected<std::string, std::string> make_volume_directory(const std::filesystem::path& pod_dir,
                                                             const std::string& below, mode_t mode);

// Whether an emptyDir of the pod has a limit, and why the pod is to go: one holds more than that
// (kubernetes: eviction_manager.go, emptyDirLimitEviction).
bool limits_volumes(const api::core::v1::Pod& pod);
std::optional<pod_failure> over_limit(const api::core::v1::Pod& pod,
                                      const std::filesystem::path& pod_dir);

// The type that a hostPath demands (kubernetes: host_path.go): makes what `…OrCreate` asks for, and
// without a type a directory where nothing is. The error says what stands there instead.
tl::expected<void, std::string> check_host_path(const std::string& path, const std::string& type);

}  // namespace troupe::actors
