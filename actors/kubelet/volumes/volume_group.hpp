// Sets the group of a pod's volumes from its fsGroup. Blocks on disk: not for actor threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Gives the volume to the group: the group may read all files, and write if it is not `sealed`; new
// files get the group too (setgid). If `sealed`, this applies to all files in it, which only the
// kubelet writes; otherwise to the volume's directory only, which is empty the first time and is
// not changed again.
tl::expected<void, std::string> set_volume_group(const std::filesystem::path& volume, gid_t group,
                                                 bool sealed);

}  // namespace troupe::actors
