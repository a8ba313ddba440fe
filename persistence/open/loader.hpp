// Opening a store: the disk, its format, the log against the objects, and the objects themselves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/engine/engine.hpp"
#include "persistence/log/revision_gaps.hpp"
#include "persistence/store_options.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// Opens by `mode` (strict or rewrite); where the write-ahead log is damaged but nothing that was
// acknowledged lies behind the damage, drops the rest and says so.
expected<std::unique_ptr<engine>> open_engine(const engine_factory& factory, open_mode mode);

// The file that has lost what a directory, found damaged and closed again, misses; nothing where
// that is not known. Opening to write may move to tables what the logs hold, and with it the number
// of the oldest log that is needed: whoever only reads still sees that.
std::optional<error> find_lost_file(const engine_factory& factory);

// One number of table::meta; 0 when it is not there.
expected<revision> read_meta(const engine& disk, std::string_view name);

// The revisions that were noted as never used.
expected<revision_gaps> read_gaps(const engine& disk);

struct loaded_store {
  std::unique_ptr<engine> disk;
  std::shared_ptr<const tree_root> root;
  std::string cluster_id;
  revision compacted = 0;
  revision horizon = 0;  // of compaction.hpp; a cut short compaction leaves it above `compacted`
  // Revisions up to here may have been given to writes that a power failure took.
  revision floor = 0;
  revision sealed_since = 0;  // of sealed_state
  revision_gaps gaps = {};
};

// Logs one line on what it found.
expected<loaded_store> load(const engine_factory& factory, const store_options& options);

}  // namespace troupe::persistence
