// The group of a pod's volumes, from its fsGroup. Blocks on disk: not for actors' threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Gives the volume to the group: it may read all, and write where it is not `sealed`; what is made
// in it later is the group's too (setgid). With `sealed` this goes for all that is in it, which the
// kubelet alone writes; else for the volume's directory, which is empty when it is given for the
// first time, and is left alone from then on.
tl::expected<void, std::string> set_volume_group(const std::filesystem::path& volume, gid_t group,
                                                 bool sealed);

}  // namespace troupe::actors
