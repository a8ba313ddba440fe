// Drops old history in small steps, and decides how much to drop.
//
// When a state leaves the log while it still precedes a kept change, it moves to `bases`; it is
// dropped with that change. The compactor does not handle states that are current when a compaction
// begins: the writer keeps them when they are replaced (staging::keep_base), because it gets the
// horizon first. The horizon is on disk before the writer uses it, so that an interrupted
// compaction leaves no base behind forever.
#pragma once

#include <chrono>

#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/log/revision_gaps.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// The rows of one step, chosen but not yet written.
struct compaction_step {
  std::unique_ptr<write_batch> rows;
  revision end = 0;         // the new compacted revision
  std::uint64_t bytes = 0;  // freed from `changes`
};

struct compaction_range {
  revision from;  // the current compacted revision
  revision to;
  revision early;  // the previous horizon: up to it the writer has already made bases
};

// `seen` is the state at the moment when the writer got `to` as its horizon. Takes whole
// transactions after `from`, up to `to` or up to the limit of a step.
expected<compaction_step> plan_compaction(const engine& disk, const tree_root& seen,
                                          compaction_range range);

struct history_policy {
  revision revisions;
  std::chrono::seconds time;
  std::uint64_t limit_bytes;  // of `changes` and `bases`; overrides the other two
};

struct history_range {
  revision compacted;
  revision current;
  std::uint64_t bytes;  // of `changes` in this range
};

// The revision up to which history may or must be dropped; `compacted` if a compaction is not worth
// it.
expected<revision> compaction_target(const engine& disk, const history_policy& keep,
                                     const revision_gaps& gaps, const history_range& log,
                                     std::chrono::system_clock::time_point now);

}  // namespace troupe::persistence
