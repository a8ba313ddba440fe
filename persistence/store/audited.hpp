// A store whose state is compared with that of the cluster while it runs: an interface beside
// `store`, for its metrics.
#pragma once

#include <cstdint>

namespace troupe::persistence {

class audited {
 public:
  virtual ~audited() = default;
  // The number of objects, since the start, that differed from the cluster's state. Thread safe.
  virtual std::uint64_t audit_differences() const = 0;
};

}  // namespace troupe::persistence
