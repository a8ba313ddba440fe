// What must hold of a store's tables beyond what each file says of itself: that no file, or part of
// one, is missing. Cheap enough for every start: it reads the newest part of the log and the places
// where files of it meet.
#pragma once

#include <optional>
#include <string>

#include "persistence/engine/engine.hpp"
#include "persistence/log/revision_gaps.hpp"
#include "persistence/tree/state_digest.hpp"

namespace troupe::persistence {

// As the last batch left it; nothing in a directory of format 1. `corrupt` when it is missing or
// is malformed although `format` says that there is one.
expected<std::optional<sealed_state>> read_sealed(const engine& disk, std::uint64_t format);

struct log_facts {
  revision last;       // the newest revision of the log
  revision compacted;  // it begins after
  const revision_gaps& gaps;
};

// The log reaches what was acknowledged and what the last batch says, and no revision is missing
// that was not noted as unused. Errors are `corrupt` and name the revisions.
expected<void> check_log(const engine& disk, const sealed_state& sealed, const log_facts& log);

// The objects are those of the last batch.
expected<void> check_objects(const sealed_state& sealed, const state_digest& found);

// The newest acknowledged revision is there, for a directory of any format.
expected<void> check_acknowledged(const engine& disk, revision last);

}  // namespace troupe::persistence
