// Removes the kubelet's sandboxes from a container runtime that continues without it, for `troupe
// leave`. The root directory records which runtime was used.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Records in the root directory that its pods are in the runtime at this socket.
void remember_runtime(const std::filesystem::path& root_dir, const std::string& socket);

// The root directory must not be in use by a kubelet. Kills all containers of its pods, removes
// them with their sandboxes and control groups, and deletes the record of the runtime. Does nothing
// without a record. The error says what is left; idempotent. Blocks: not for actor threads.
tl::expected<void, std::string> end_leftover_sandboxes(const std::filesystem::path& root_dir);

}  // namespace troupe::actors
