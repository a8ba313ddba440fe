// The process between the kubelet and a container: the parent of the container's process, which
// writes its log and its exit. It is this same program, started with a hidden subcommand, in a
// session of its own, so that it outlives the node; the next node finds it by its directory
// (container_dir.hpp).
//
// Where the system allows, the process runs in a PID namespace of its own, whose end takes every
// descendant along; elsewhere the shim is their subreaper and kills what the process leaves behind.
#pragma once

namespace troupe::actors {

// The hidden subcommand of the program.
inline constexpr const char* container_shim_command = "container-shim";

// `directory` holds the spec. Returns the exit code of the shim itself: 0 when it could write down
// how the container ended.
int container_shim_main(const char* directory);

}  // namespace troupe::actors
