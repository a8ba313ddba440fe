// The files of volumes made from API objects: configMap, secret, downwardAPI, projected. Pure
// except for `read`.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/access/pod_references.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct volume_file {
  std::string path;  // relative to the volume
  std::string content;
  int mode = 0644;
  std::optional<uid_t> owner = {};  // absent: the kubelet's own user
};

// The newest tokens of a pod.
using pod_tokens = std::map<projected_token, std::string>;

// Whether the source is one of the four kinds above.
bool made_of_files(const api::core::v1::VolumeSource& source);

// Sorted by path, each path once: if two sources have the same path the later wins. Errors name the
// missing object or key in upstream's words; optional ones may be missing.
tl::expected<std::vector<volume_file>, std::string> volume_files(
    const api::core::v1::Pod& pod, const api::core::v1::VolumeSource& source,
    const object_reader& read, const pod_tokens& tokens = {});

// The paths of sources of projected volumes that are left out, as for an event of the pod.
std::vector<std::string> unsupported_sources(const api::core::v1::Pod& pod);

// The user of all containers of a pod; nothing if they differ or have none (kubernetes:
// volume/util, FsUserFrom). This user owns the pod's token files.
std::optional<uid_t> user_of_all(const api::core::v1::Pod& pod);

// A digest that changes with any difference between two lists of files.
std::string digest_of(const std::vector<volume_file>& files);

// The directory of a volume below the pod's `volumes`, in upstream's layout; empty if the volume is
// elsewhere or not supported.
std::string volume_path(const api::core::v1::Volume& volume);

// The environment variable with a volume's path, if it cannot be mounted: TROUPE_VOLUME_<NAME>.
std::string volume_variable(const std::string& name);

}  // namespace troupe::actors
