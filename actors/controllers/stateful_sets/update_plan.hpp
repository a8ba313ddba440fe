// What a StatefulSet does next about its pods (kubernetes: stateful_set_control.go,
// updateStatefulSet). Pure.
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
  std::size_t burst = 500;      // pods made in one sync
};

struct set_pod {
  std::string revision;
  bool failed = false, succeeded = false;  // its phase
  bool terminating = false;
  bool ready = false, available = false;  // and running

  bool healthy() const noexcept { return ready && !terminating; }
};

using set_pods = std::map<std::int32_t, set_pod>;  // by ordinal

enum class deed {
  create,    // of `revision`
  keep,      // its claims, and the labels of its identity
  recreate,  // it has ended: remove it, the next sync makes it again
  condemn,   // remove it, the set has become smaller
  replace,   // remove it, its revision is old
};

struct set_step {
  deed action = deed::keep;
  std::int32_t ordinal = 0;
  std::string revision = {};

  friend bool operator==(const set_step&, const set_step&) = default;
};

// In the order in which they are to be taken. What an ordered set must wait for ends the list.
std::vector<set_step> plan_set(const set_rules& rules, const set_pods& pods);

// What the pods add up to, for the status.
struct set_counts {
  std::int32_t replicas = 0, ready = 0, available = 0, current = 0, updated = 0;
};
set_counts count_pods(const set_rules& rules, const set_pods& pods);
// All that the update was to replace is replaced and ready: the update revision is the current one.
bool update_is_complete(const set_rules& rules, const set_counts& counts);

}  // namespace troupe::actors::stateful_sets
