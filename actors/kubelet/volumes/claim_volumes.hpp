// Finds the volume that a pod's claim is bound to. Blocks on disk: not for actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/pods/pod_env.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// The key of the volume that the claim `object` is bound to; empty if null or not bound.
std::string volume_key(const api::object_ptr& object);

// The PersistentVolume that the claim `volume` of the pod is bound to. The error says why the pod
// cannot use it, in upstream's words. Pods that use a terminating claim already may continue to.
tl::expected<api::object_ptr, std::string> find_claimed_volume(const api::core::v1::Pod& pod,
                                                               const api::core::v1::Volume& volume,
                                                               const std::filesystem::path& pod_dir,
                                                               const object_reader& read);

// Whether it is a raw device: of volumeMode Block.
bool is_device(const api::core::v1::PersistentVolume& volume);

// The path of a raw device on this machine, that of a `local` volume. The error says that there is
// no block device outside of the `hidden` directories, or that the volume is of another kind
// (upstream maps no hostPath either).
tl::expected<std::string, std::string> map_device(const api::core::v1::PersistentVolume& volume,
                                                  const std::vector<std::string>& hidden);

// The path on this machine of a volume with a file system, `body`: a directory of the built-in
// provisioner, a `local` volume, a hostPath outside of the `hidden` directories, or the mount point
// of an NFS share. The error says why it cannot be used, or that volumes of this kind are not
// supported here.
tl::expected<std::string, std::string> set_up_claim(const api::core::v1::Pod& pod,
                                                    const api::core::v1::Volume& volume,
                                                    const api::core::v1::PersistentVolume& body,
                                                    const std::filesystem::path& pod_dir,
                                                    bool may_mount,
                                                    const std::vector<std::string>& hidden);

// Whether the volume is a claim: persistentVolumeClaim or ephemeral.
bool is_claim(const api::core::v1::VolumeSource& source);

}  // namespace troupe::actors
