// Checks that no file of a store, or part of one, is missing, which the files' own checksums cannot
// detect. Cheap enough for every start: reads the newest part of the log and the boundaries between
// its files.
#pragma once

#include <optional>
#include <string>

#include "persistence/engine/engine.hpp"
#include "persistence/log/revision_gaps.hpp"
#include "persistence/tree/state_digest.hpp"

namespace troupe::persistence {

// The seal of the last batch; nullopt in a directory of format 1. `corrupt` if it is malformed, or
// missing although `format` requires it.
expected<std::optional<sealed_state>> read_sealed(const engine& disk, std::uint64_t format);

// The directory in which `salvage` makes the new store, before that replaces the damaged one.
std::string salvaged_copy_of(const std::string& directory);

// Refuses a directory without files whose salvaged copy exists: `salvage` was killed before it
// could put the copy in its place, and a new store would hide that.
expected<void> check_salvage_ended(const std::string& directory);

struct log_facts {
  revision last;       // the newest revision of the log
  revision compacted;  // the log begins after it
  const revision_gaps& gaps;
};

// Checks that the log reaches the acknowledged revision and that of the last batch, and that no
// revision is missing except the known gaps. Errors are `corrupt` and name the revisions.
expected<void> check_log(const engine& disk, const sealed_state& sealed, const log_facts& log);

// Checks that the objects are those of the last batch.
expected<void> check_objects(const sealed_state& sealed, const state_digest& found);

// Checks that the newest acknowledged revision is present, in a directory of any format.
expected<void> check_acknowledged(const engine& disk, revision last);

}  // namespace troupe::persistence
