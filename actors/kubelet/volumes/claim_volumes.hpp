// Finds the volume that a pod's claim is bound to. Blocks on disk: not for actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/pods/pod_env.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// The key of the volume that the claim `object` is bound to; empty if null or not bound.
std::string volume_key(const api::object_ptr& object);

// The path on this machine: a directory of the built-in provisioner, a `local` volume, a
// hostPath outside of the `hidden` directories, or the mount point of an NFS share. The error
// says why the claim cannot be used, in upstream's words, or that volumes of this kind are not
// supported here.
tl::expected<std::string, std::string> set_up_claim(const api::core::v1::Pod& pod,
                                                    const api::core::v1::Volume& volume,
                                                    const std::filesystem::path& pod_dir,
                                                    const object_reader& read, bool may_mount,
                                                    const std::vector<std::string>& hidden);

// Whether the volume is a claim: persistentVolumeClaim or ephemeral.
bool is_claim(const api::core::v1::VolumeSource& source);

}  // namespace troupe::actors
