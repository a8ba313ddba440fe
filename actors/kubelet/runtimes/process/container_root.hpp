// The container's view of the machine's file system: its own mount namespace, made by the init of
// its PID namespace (container_shim.cpp), which has a single thread.
//
// In a chroot whose root is no mount point, it becomes one first.
//
// In this order, as each step builds on those before:
//   1  the pod's own volumes are taken as detached mounts, while the node's data can be seen
//   2  the node's data is covered by an empty tmpfs wherever it can be seen: at its path and in
//      other mounts of its file system
//   3  /proc is the container's own, in place of every other one; files there and in /sys that
//      change the kernel are read-only, those with secrets are covered, as in container runtimes
//   4  hostPath volumes are taken: with the covers, so that no link or mount leads around them
//   5  everything is without devices, and read-only where the container asks for that
//   6  /dev has the devices that every container has
//   7  volumes are mounted at their paths, outer ones first; then some become read-only, and the
//   covers
// Privileged containers keep devices, /proc and /sys as they are: they could undo all of it anyway.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/process/container_dir.hpp"

namespace troupe::actors {

// For `confinement::namespaces` and `user_namespace`, with CAP_SYS_ADMIN over a new mount
// namespace. After an error, which names the failed step, the container must not run.
tl::expected<void, std::string> make_container_root(const container_spec& spec);

}  // namespace troupe::actors
