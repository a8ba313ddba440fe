// Paths of the machine that pods must not reach: the node's data with the cluster's keys, and the
// kubelet's root. The functions block on disk: not for actors' threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// An error where the path, or what it leads to, is one of the directories or below one. What it
// leads to may not be there yet. A container's mount namespace keeps it from the rest
// (container_root.hpp); this check refuses the mount before, so that the kubelet creates nothing
// there.
tl::expected<void, std::string> check_not_protected(const std::string& path,
                                                    const std::vector<std::string>& hidden);

// The profile ROOT/seccomp/NAME, at most 1 MiB; no link leads out of that folder.
tl::expected<std::string, std::string> read_seccomp_profile(const std::filesystem::path& root_dir,
                                                            const std::string& name);

}  // namespace troupe::actors
