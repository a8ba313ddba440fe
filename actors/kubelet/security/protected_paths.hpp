// Protects paths of the machine that pods must not reach: the node's data with the cluster's keys,
// and the kubelet's root. The functions block on disk: not for actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// Returns an error if the path, or the target of its links, is in one of the directories, even if
// the target does not exist yet. A container's mount namespace hides them anyway
// (container_root.hpp); this check rejects the mount earlier, so that the kubelet creates nothing
// there.
tl::expected<void, std::string> check_not_protected(const std::string& path,
                                                    const std::vector<std::string>& hidden);

// Reads the profile ROOT/seccomp/NAME, at most 1 MiB; follows no link out of that folder.
tl::expected<std::string, std::string> read_seccomp_profile(const std::filesystem::path& root_dir,
                                                            const std::string& name);

}  // namespace troupe::actors
