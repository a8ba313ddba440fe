// Constants of persistent volumes and claims, each with its source.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::volumes::defaults {

using namespace std::chrono_literals;

// -- names ----------------------------------------------------------------------------------------

// kubernetes: component-helpers/storage/volume/pv_helpers.go.
inline constexpr const char* bind_completed = "pv.kubernetes.io/bind-completed";
inline constexpr const char* bound_by_controller = "pv.kubernetes.io/bound-by-controller";
inline constexpr const char* provisioned_by = "pv.kubernetes.io/provisioned-by";
inline constexpr const char* storage_provisioner = "volume.kubernetes.io/storage-provisioner";
inline constexpr const char* storage_provisioner_beta =
    "volume.beta.kubernetes.io/storage-provisioner";
inline constexpr const char* selected_node = "volume.kubernetes.io/selected-node";
inline constexpr const char* class_annotation = "volume.beta.kubernetes.io/storage-class";
// kubernetes: pkg/volume/util/finalizer.go.
inline constexpr const char* claim_protection = "kubernetes.io/pvc-protection";
inline constexpr const char* volume_protection = "kubernetes.io/pv-protection";
// kubernetes: pkg/volume/util/storageclass.go.
inline constexpr const char* default_class = "storageclass.kubernetes.io/is-default-class";
inline constexpr const char* default_class_beta =
    "storageclass.beta.kubernetes.io/is-default-class";

// The built-in provisioner; also the driver of its volumes, and the finalizer that the node removes
// after the volume's directory: docs/decisions/0064-claims.md.
inline constexpr const char* local_path = "local-path.troupe.dev";
inline constexpr const char* local_path_finalizer = "local-path.troupe.dev/directory";
inline constexpr const char* local_path_node = "node";  // of the volume's attributes
inline constexpr const char* local_path_class = "local-path";

// -- the binder -----------------------------------------------------------------------------------

// kubernetes: kube-controller-manager --pvclaimbinder-sync-period.
inline constexpr auto resync_period = 15s;
// A failed write is retried after this.
inline constexpr auto retry = 1s;
// Maximum number of pending writes, and of objects synced before other messages are handled.
inline constexpr std::size_t writes_under_way = 500;
inline constexpr std::size_t looks_in_a_row = 200;

// -- the node -------------------------------------------------------------------------------------

// How often the removal of a directory that is in use is retried.
inline constexpr auto removal_retry = 2s;

}  // namespace troupe::actors::volumes::defaults
