// Limits the number of concurrent requests, separately for reads and writes, as upstream's
// max-requests-inflight. Thread safe and lock-free.
//
// A tenth of the seats is reserved for system:masters and a twentieth for heartbeats of nodes. The
// others are shared: a user may hold as many as are still free. So a single user gets half of them,
// several users get equal shares, and some stay free for newcomers (the dynamic thresholds of
// Choudhury and Hahne). Masters take shared seats without that limit.
#pragma once

#include <cstddef>
#include <memory>

#include "server/fwd.hpp"

namespace troupe::server {

class in_flight {
 public:
  in_flight(std::size_t reads, std::size_t writes);

  // A seat for a complete request admitted by auth_filter, released with the last copy of the
  // pointer; null if there is none for it.
  std::shared_ptr<void> enter(const request& request) const;

  std::size_t reads() const noexcept;
  std::size_t writes() const noexcept;

 private:
  struct pool;
  // Shared with the seats, which may outlive this object.
  std::shared_ptr<pool> reads_;
  std::shared_ptr<pool> writes_;
};

}  // namespace troupe::server
