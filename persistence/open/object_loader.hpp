// Reads the table of objects into a tree, decoding with as many threads as there are cores.
#pragma once

#include "persistence/engine/engine.hpp"
#include "persistence/log/log_fold.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// A process that would be killed half-way for its memory fails before that: `no_memory` says what
// is needed at least. `limit_bytes` is 0 where its control groups say.
expected<void> check_memory(const engine& disk, std::uint64_t limit_bytes);

// `last` is the newest revision in the log. Every row is shown to `fold`; a row that
// cannot be decoded is an error that names its key.
expected<void> load_objects(const engine& disk, revision last, log_fold& fold, tree_edit& into);

}  // namespace troupe::persistence
