// Expectations: the creations and deletions of a controller that it has not seen yet. Until it sees
// them it must not count its pods again, or it would create a pod twice.
//
// They are kept by key of the pod, so that only this pod fulfils them, and the deletionTimestamp
// and the final removal of one pod count once. An expectation is dropped after
// `defaults::expectation_ttl`.
#pragma once

#include <string>
#include <unordered_set>

#include "runtime/clock.hpp"

namespace troupe::actors::replication {

class expectations {
 public:
  void expect_creation(const std::string& pod_key, runtime::time_point now);
  void expect_deletion(const std::string& pod_key, runtime::time_point now);

  // The pod was seen in any state, or its creation failed.
  void creation_observed(const std::string& pod_key);
  // The pod was seen terminating or deleted, or its deletion failed.
  void deletion_observed(const std::string& pod_key);

  bool satisfied(runtime::time_point now) const;
  // True if an expectation was not fulfilled in time.
  bool expired(runtime::time_point now) const;
  // The time when they expire; only valid while something is expected.
  runtime::time_point expires_at() const;
  void forget();

 private:
  std::unordered_set<std::string> creations_;
  std::unordered_set<std::string> deletions_;
  runtime::time_point since_{};
};

}  // namespace troupe::actors::replication
