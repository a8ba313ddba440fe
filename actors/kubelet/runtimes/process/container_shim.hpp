// The process between the kubelet and a container: the parent of the container's process, which
// writes the container's log and exit. It is this same program, started with a hidden subcommand in
// its own session, so it outlives the node process; the next one finds it by its directory
// (container_dir.hpp).
//
// If the system allows, the process runs in its own PID namespace, whose end kills all descendants;
// otherwise the shim is their subreaper and kills the remaining processes.
#pragma once

namespace troupe::actors {

// The hidden subcommand of the program.
inline constexpr const char* container_shim_command = "container-shim";

// `directory` contains the spec. Returns the exit code of the shim itself: 0 if it could write how
// the container ended.
int container_shim_main(const char* directory);

}  // namespace troupe::actors
