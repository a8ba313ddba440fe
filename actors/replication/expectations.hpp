// What a controller has asked for and not yet seen come true: until then it must not count again,
// or it would create a pod twice.
//
// Creations are counted, deletions are remembered by pod, so that the deletionTimestamp and the
// final removal of one pod count once. What was never seen is given up after
// `defaults::expectation_ttl`.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include "runtime/clock.hpp"

namespace troupe::actors::replication {

class expectations {
 public:
  void expect_creations(std::size_t count, runtime::time_point now);
  void expect_deletion(const std::string& pod_key, runtime::time_point now);

  // A pod was seen for the first time, or its creation failed or was skipped.
  void creation_observed(std::size_t count = 1) noexcept;
  // A pod was seen being deleted or gone, or its deletion failed.
  void deletion_observed(const std::string& pod_key);

  bool satisfied(runtime::time_point now) const;
  // When they expire if nothing more is seen; only meaningful while something is expected.
  runtime::time_point expires_at() const;
  void forget();

 private:
  std::size_t creations_ = 0;
  std::unordered_set<std::string> deletions_;
  runtime::time_point since_{};
};

}  // namespace troupe::actors::replication
