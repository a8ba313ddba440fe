// Plans the next steps for the pods of a StatefulSet (kubernetes: stateful_set_control.go,
// updateStatefulSet). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe::actors::stateful_sets {

struct set_rules {
  std::int32_t start = 0, replicas = 1;
  bool ordered = true;     // OrderedReady
  bool on_delete = false;  // the update strategy
  std::int32_t partition = 0, max_unavailable = 1;
  std::string current, update;  // names of revisions
  std::size_t burst = 500;      // pods created in one sync
};

struct set_pod {
  std::string revision;
  bool failed = false, succeeded = false;  // its phase
  bool terminating = false;
  bool ready = false, available = false;  // only in phase Running

  bool healthy() const noexcept { return ready && !terminating; }
};

using set_pods = std::map<std::int32_t, set_pod>;  // by ordinal

enum class step_kind {
  create,    // of `revision`
  keep,      // restore its claims and identity labels
  recreate,  // delete it because it has finished; the next sync creates it again
  condemn,   // delete it because of a scale-down
  replace,   // delete it because its revision is old
};

struct set_step {
  step_kind action = step_kind::keep;
  std::int32_t ordinal = 0;
  std::string revision = {};

  friend bool operator==(const set_step&, const set_step&) = default;
};

// The steps in order. If an ordered set must wait for a pod the list ends there.
std::vector<set_step> plan_set(const set_rules& rules, const set_pods& pods);

// The counts of pods for the status.
struct set_counts {
  std::int32_t replicas = 0, ready = 0, available = 0, current = 0, updated = 0;
};
set_counts count_pods(const set_rules& rules, const set_pods& pods);
// True if all pods to update are updated and ready: the update revision becomes current.
bool update_is_complete(const set_rules& rules, const set_counts& counts);

}  // namespace troupe::actors::stateful_sets
