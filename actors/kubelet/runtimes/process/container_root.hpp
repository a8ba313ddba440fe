// The container's view of the machine's file system: its own mount namespace, created by the init
// of its PID namespace (container_shim.cpp), which has a single thread.
//
// If the machine's root is a chroot that is not a mount point, it is made one first.
//
// The steps, in this order because each depends on those before:
//   1  the pod's own volumes are opened as detached mounts, while the node's data is visible
//   2  the node's data is covered by an empty tmpfs wherever it is visible: at its path and in
//      other mounts of its file system
//   3  /proc becomes the container's own and replaces all others; files there and in /sys that
//      change the kernel become read-only, those with secrets are covered, as in other runtimes
//   4  hostPath volumes are opened, with the covers, so that no link or mount bypasses them
//   5  all mounts become nodev, and read-only if the container asks for that
//   6  /dev gets the devices that every container has
//   7  volumes are mounted at their paths, outer ones first; then some of them and the covers
//      become read-only
// Privileged containers keep devices, /proc and /sys as they are: they could undo it anyway.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/process/container_dir.hpp"

namespace troupe::actors {

// For `confinement::namespaces` and `user_namespace`, with CAP_SYS_ADMIN over a new mount
// namespace. After an error, which names the failed step, the container must not run.
tl::expected<void, std::string> make_container_root(const container_spec& spec);

}  // namespace troupe::actors
