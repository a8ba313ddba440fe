// What a controller has asked for and not yet seen come true: until then it must not count again,
// or it would create a pod twice.
//
// Creations and deletions are remembered by the key of the pod, so that nothing but the very pod
// that was asked for fulfils them, and the deletionTimestamp and the final removal of one pod count
// once. What was never seen is given up after `defaults::expectation_ttl`.
#pragma once

#include <string>
#include <unordered_set>

#include "runtime/clock.hpp"

namespace troupe::actors::replication {

class expectations {
 public:
  void expect_creation(const std::string& pod_key, runtime::time_point now);
  void expect_deletion(const std::string& pod_key, runtime::time_point now);

  // The pod was seen, in whatever state, or its creation failed.
  void creation_observed(const std::string& pod_key);
  // The pod was seen being deleted or gone, or its deletion failed.
  void deletion_observed(const std::string& pod_key);

  bool satisfied(runtime::time_point now) const;
  // Something was not seen in time.
  bool expired(runtime::time_point now) const;
  // When they expire if nothing more is seen; only meaningful while something is expected.
  runtime::time_point expires_at() const;
  void forget();

 private:
  std::unordered_set<std::string> creations_;
  std::unordered_set<std::string> deletions_;
  runtime::time_point since_{};
};

}  // namespace troupe::actors::replication
