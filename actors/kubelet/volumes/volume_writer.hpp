// Replaces the files of a volume atomically: a reader sees all old or all new files (kubernetes:
// volume/util/atomic_writer.go).
//
//   VOLUME/..<digest>/path/of/file   the files
//   VOLUME/..data                    a link to that directory, replaced by rename
//   VOLUME/path                      a link to ..data/path for each top-level name
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/volumes/volume_content.hpp"

namespace troupe::actors {

// Blocks on disk: not for actor threads. Writes nothing if the files are already there. Follows no
// link out of `volume`, whatever a container has put there; the error names the failed system call,
// and the old files stay.
tl::expected<void, std::string> write_volume(const std::filesystem::path& volume,
                                             const std::vector<volume_file>& files);

}  // namespace troupe::actors
