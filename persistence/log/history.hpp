// Reads the change log from disk, with the state before each change.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// The newest revision on the disk; 0 for none.
expected<revision> last_revision(const engine& disk);

// The changes in (after, up_to]: at most `limit`, but whole transactions. Takes objects that are
// still current from `now` instead of decoding them again. A malformed record is a `corrupt` error:
// none is skipped. Compaction may run meanwhile: afterwards the caller must check that `after` is
// still kept.
expected<std::vector<change>> read_changes(const engine& disk, const tree_root& now, revision after,
                                           revision up_to, std::size_t limit);

struct rebuild_limits {
  std::size_t changes;  // since the state
  std::size_t bytes;    // of the objects that have changed, in their stored form then
};

// The state at revision `at`: `now` without the changes after it. Decodes one object for each key
// that has changed since. Beyond the limits, or if the log does not reach back to `at`:
// `compacted`. Compaction may run meanwhile, as above.
expected<std::shared_ptr<const tree_root>> rebuild_state(const engine& disk, const tree_root& now,
                                                         revision at, const rebuild_limits& limits);

}  // namespace troupe::persistence
