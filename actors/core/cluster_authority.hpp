// The CA certificates by which clients verify the API server. The owner of the keys sets them at
// startup and replaces them at each renewal. Thread safe.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace troupe::actors {

class cluster_authority {
 public:
  explicit cluster_authority(std::string certificates = {})
      : certificates_{std::move(certificates)} {}

  // In PEM; empty if there are none.
  std::string certificates() const {
    const std::lock_guard lock{mutex_};
    return certificates_;
  }
  void replace(std::string certificates) {
    const std::lock_guard lock{mutex_};
    certificates_ = std::move(certificates);
  }

 private:
  mutable std::mutex mutex_;
  std::string certificates_;
};

}  // namespace troupe::actors
