#include "actors/replication/expectations.hpp"

#include <algorithm>

#include "actors/replication/defaults.hpp"

namespace troupe::actors::replication {

void expectations::expect_creations(std::size_t count, runtime::time_point now) {
  creations_ += count;
  since_ = now;
}

void expectations::expect_deletion(const std::string& pod_key, runtime::time_point now) {
  deletions_.insert(pod_key);
  since_ = now;
}

void expectations::creation_observed(std::size_t count) noexcept {
  creations_ -= std::min(creations_, count);
}

void expectations::deletion_observed(const std::string& pod_key) {
  deletions_.erase(pod_key);
}

bool expectations::satisfied(runtime::time_point now) const {
  return (creations_ == 0 && deletions_.empty()) || now >= expires_at();
}

runtime::time_point expectations::expires_at() const {
  return since_ + defaults::expectation_ttl;
}

void expectations::forget() {
  creations_ = 0;
  deletions_.clear();
}

}  // namespace troupe::actors::replication
