// The files of volumes that are made of objects: configMap, secret, downwardAPI, projected. Pure
// but for `read`.
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

// True for the four kinds above.
bool made_of_files(const api::core::v1::VolumeSource& source);

// In order of path, each path once: of two sources with one path the later wins. Errors name what
// is missing, as upstream words it; what is optional may be missing.
tl::expected<std::vector<volume_file>, std::string> volume_files(
    const api::core::v1::Pod& pod, const api::core::v1::VolumeSource& source,
    const object_reader& read, const pod_tokens& tokens = {});

// The user that all containers of a pod run as; nothing where they differ or do not say
// (kubernetes: volume/util, FsUserFrom). Such a pod's tokens are its own to read.
std::optional<uid_t> user_of_all(const api::core::v1::Pod& pod);

// Changes with every difference between two lists of files.
std::string digest_of(const std::vector<volume_file>& files);

// The directory of a volume below the pod's `volumes`, in upstream's layout; empty for what
// lies elsewhere or cannot be set up.
std::string volume_path(const api::core::v1::Volume& volume);

// The variable that says where a volume stands, where it cannot be mounted: TROUPE_VOLUME_<NAME>.
std::string volume_variable(const std::string& name);

}  // namespace troupe::actors
