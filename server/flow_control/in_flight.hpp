// How many requests may be under way at once, reading and writing ones apart, as upstream's
// max-requests-inflight. Thread safe, without locks.
//
// Of the places a tenth is kept for system:masters and a twentieth for the heartbeats of nodes. The
// others are shared: one user may hold as many as are still free. So a user alone gets half of
// them, several get equal parts, and some are left for who comes late (the dynamic thresholds of
// Choudhury and Hahne). Masters take from the shared places without that bound.
#pragma once

#include <cstddef>
#include <memory>

#include "server/fwd.hpp"

namespace troupe::server {

class in_flight {
 public:
  in_flight(std::size_t reads, std::size_t writes);

  // A place for a request that has come whole and that auth_filter has admitted, given back when
  // the last copy of the pointer goes; null when there is none for it.
  std::shared_ptr<void> enter(const request& request) const;

  std::size_t reads() const noexcept;
  std::size_t writes() const noexcept;

 private:
  struct pool;
  // Shared with the places: they may outlive this.
  std::shared_ptr<pool> reads_;
  std::shared_ptr<pool> writes_;
};

}  // namespace troupe::server
