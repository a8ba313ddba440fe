// The certificates by which clients know the API server, as whoever holds the keys hands them in:
// at the start, and when they are renewed. Thread safe.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace troupe::actors {

class cluster_authority {
 public:
  explicit cluster_authority(std::string certificates = {})
      : certificates_{std::move(certificates)} {}

  // PEM; empty where there are none.
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
