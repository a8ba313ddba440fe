// Reading the change log back from the disk, with the state before each change.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// The newest revision on the disk; 0 for none.
expected<revision> last_revision(const engine& disk);

// The changes after `after` up to `up_to`: at most `limit`, but whole transactions. Objects that
// are still the newest are taken from `now` instead of being decoded again. A record that makes no
// sense is an error, `corrupt`: none is left out. Compaction may run meanwhile: the caller looks
// afterwards whether `after` is still kept.
expected<std::vector<change>> read_changes(const engine& disk, const tree_root& now, revision after,
                                           revision up_to, std::size_t limit);

}  // namespace troupe::persistence
