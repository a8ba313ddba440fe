// What a kubelet has left in a container runtime that goes on without it, for `troupe leave`. The
// root directory remembers which runtime that was.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Notes in the root directory that its pods are in the runtime at this socket.
void remember_runtime(const std::filesystem::path& root_dir, const std::string& socket);

// No kubelet may use the root directory. Kills all containers of its pods, removes them with their
// sandboxes and control groups, and forgets the runtime. Nothing is done where none is remembered.
// The error says what is left; may be repeated. Blocks: not for actors' threads.
tl::expected<void, std::string> end_leftover_sandboxes(const std::filesystem::path& root_dir);

}  // namespace troupe::actors
