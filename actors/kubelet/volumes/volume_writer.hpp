// Files of a volume, changed all at once: a reader sees all of the old or all of the new
// ones (kubernetes: volume/util/atomic_writer.go).
//
//   VOLUME/..<digest>/path/of/file   the files
//   VOLUME/..data                    a link to that directory, replaced by rename
//   VOLUME/path                      a link to ..data/path for each first step of a path
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/volumes/volume_content.hpp"

namespace troupe::actors {

// Blocks on disk: not for actors' threads. Nothing is written when the files are there already.
// Stays below `volume`, whatever a container has put there; the error says what the system refused,
// and the old files stand then.
tl::expected<void, std::string> write_volume(const std::filesystem::path& volume,
                                             const std::vector<volume_file>& files);

}  // namespace troupe::actors
