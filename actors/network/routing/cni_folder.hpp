// Our file in the folder where a container runtime looks for networks. Files of others stay, and
// where there is one ours is not written: which network pods have is decided by who put it there.
// Blocks: for a worker thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors::routing {

// A network of another program; nothing: there is none.
std::optional<std::filesystem::path> foreign_network(const std::filesystem::path& folder);

// Writes it where it has another content. `marker` then names it, for remove_cni_file().
tl::expected<void, std::string> write_cni_file(const std::filesystem::path& folder,
                                               const std::string& content,
                                               const std::filesystem::path& marker);

// Removes the file that the marker names, and the marker.
tl::expected<void, std::string> remove_cni_file(const std::filesystem::path& marker);

}  // namespace troupe::actors::routing
