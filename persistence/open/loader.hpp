// Opens a store: the disk, its format, the check of the log against the objects, the objects.
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

// Opens in `mode` (strict or rewrite). If the write-ahead log is damaged but no acknowledged write
// lies after the damage, drops the rest of the log and logs a warning.
expected<std::unique_ptr<engine>> open_engine(const engine_factory& factory, open_mode mode);

// Names the damaged or missing file of a directory that was found damaged and is closed again;
// nullopt if it is not known. A writing open may move the content of logs into tables, and with it
// the number of the oldest log needed; a read-only open still sees the old number.
std::optional<error> find_lost_file(const engine_factory& factory);

// Reads a number from table::meta; 0 if it is absent.
expected<revision> read_meta(const engine& disk, std::string_view name);

// Reads the revisions recorded as never used.
expected<revision_gaps> read_gaps(const engine& disk);

struct loaded_store {
  std::unique_ptr<engine> disk;
  std::shared_ptr<const tree_root> root;
  std::string cluster_id;
  revision compacted = 0;
  revision horizon = 0;  // see compaction.hpp; above `compacted` after an interrupted compaction
  // Revisions up to here may have been used by writes that a power failure lost.
  revision floor = 0;
  revision sealed_since = 0;  // of sealed_state
  revision_gaps gaps = {};
};

// Logs one line with the result.
expected<loaded_store> load(const engine_factory& factory, const store_options& options);

}  // namespace troupe::persistence
