// Reads table::objects into a tree, decoding with one thread for each core.
#pragma once

#include "persistence/engine/engine.hpp"
#include "persistence/log/log_fold.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// Fails with `no_memory`, naming the memory that is needed, before the process would be killed
// half-way through the load. `limit_bytes` 0: the limit of its control groups.
expected<void> check_memory(const engine& disk, std::uint64_t limit_bytes);

// `last` is the newest revision of the log. Passes each row to `fold`. A row that cannot be decoded
// is an error that names its key.
expected<void> load_objects(const engine& disk, revision last, log_fold& fold, tree_edit& into);

}  // namespace troupe::persistence
