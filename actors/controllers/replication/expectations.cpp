#include "actors/controllers/replication/expectations.hpp"

#include "actors/controllers/replication/defaults.hpp"

namespace troupe::actors::replication {

void expectations::expect_creation(const std::string& pod_key, runtime::time_point now) {
  creations_.insert(pod_key);
  since_ = now;
}

void expectations::expect_deletion(const std::string& pod_key, runtime::time_point now) {
  deletions_.insert(pod_key);
  since_ = now;
}

void expectations::creation_observed(const std::string& pod_key) {
  creations_.erase(pod_key);
}

void expectations::deletion_observed(const std::string& pod_key) {
  deletions_.erase(pod_key);
}

bool expectations::satisfied(runtime::time_point now) const {
  return (creations_.empty() && deletions_.empty()) || now >= expires_at();
}

bool expectations::expired(runtime::time_point now) const {
  return !(creations_.empty() && deletions_.empty()) && now >= expires_at();
}

runtime::time_point expectations::expires_at() const {
  return since_ + defaults::expectation_ttl;
}

void expectations::forget() {
  creations_.clear();
  deletions_.clear();
}

}  // namespace troupe::actors::replication
