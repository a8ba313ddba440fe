// Where the volume is that a pod's claim is bound to. Blocks on disk: not for actors' threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/pods/pod_env.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Key of the volume that the claim `object` is bound to; empty where it is none, or not bound.
std::string volume_key(const api::object_ptr& object);

// The path on this machine: a directory of the built-in provisioner, of a `local` volume, a
// hostPath that is none of the `hidden` directories, or where a share of an NFS server was mounted.
// The error says what is missing, as upstream words it, or that volumes of this kind are not
// mounted here.
tl::expected<std::string, std::string> set_up_claim(const api::core::v1::Pod& pod,
                                                    const api::core::v1::Volume& volume,
                                                    const std::filesystem::path& pod_dir,
                                                    const object_reader& read, bool may_mount,
                                                    const std::vector<std::string>& hidden);

// Whether the volume stands for a claim.
bool is_claim(const api::core::v1::VolumeSource& source);

}  // namespace troupe::actors
