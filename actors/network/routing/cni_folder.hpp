// Our file in the folder where a container runtime reads its network configuration. Files of other
// programs stay, and if there is one ours is not written: that program then provides the pod
// network. Blocks: for a worker thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors::routing {

// The network file of another program; nothing: there is none.
std::optional<std::filesystem::path> foreign_network(const std::filesystem::path& folder);

// Writes our file if its content differs. `marker` records its path, for remove_cni_file().
tl::expected<void, std::string> write_cni_file(const std::filesystem::path& folder,
                                               const std::string& content,
                                               const std::filesystem::path& marker);

// Removes the file that the marker names, and the marker.
tl::expected<void, std::string> remove_cni_file(const std::filesystem::path& marker);

}  // namespace troupe::actors::routing
