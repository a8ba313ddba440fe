// Forgetting old history in small steps, and choosing how much.
//
// A state that leaves the log while a kept change still began from it moves to `bases`; it goes
// when that change goes. States that are current when a compaction begins are not the compactor's
// business: the writer keeps them when they are replaced (staging::keep_base), because it gets
// the horizon first. The horizon is on disk before the writer acts on it, so that a compaction that
// was cut short leaves no base behind forever.
#pragma once

#include <chrono>

#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/log/revision_gaps.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

// One step's worth of rows, chosen but not yet written.
struct compaction_step {
  std::unique_ptr<write_batch> rows;
  revision end = 0;         // the new compacted revision
  std::uint64_t bytes = 0;  // that leave `changes`
};

struct compaction_range {
  revision from;  // the compacted revision of now
  revision to;
  revision early;  // the horizon before this compaction: up to there the writer made bases already
};

// `seen` is the state at the moment when the writer took `to` as its horizon. Takes whole
// transactions after `from`, up to `to` or as many as a step may have.
expected<compaction_step> plan_compaction(const engine& disk, const tree_root& seen,
                                          compaction_range range);

struct history_policy {
  revision revisions;
  std::chrono::seconds time;
  std::uint64_t limit_bytes;  // of `changes` and `bases`, whatever the other two say
};

struct history_range {
  revision compacted;
  revision current;
  std::uint64_t bytes;  // of `changes` in it
};

// The revision up to which history may go now, or must; `compacted` when there is nothing worth a
// compaction.
expected<revision> compaction_target(const engine& disk, const history_policy& keep,
                                     const revision_gaps& gaps, const history_range& log,
                                     std::chrono::system_clock::time_point now);

}  // namespace troupe::persistence
