// A shared log whose keys below one prefix (Events) expire: it attaches a lease to each put, as
// kube-apiserver does. Many objects share a lease; when it expires, the log removes all of them at
// one revision, so no sweep is necessary.
//
// A put of an existing key attaches the newest lease, as in kube-apiserver, so its time starts
// again. Keys that are not written keep their lease, whichever program attached it.
//
// The log refuses a transaction whose lease expired early (etcd was restored, the machine slept):
// the transaction is then sent again with a new lease.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence {

// Objects with this key prefix expire after `time_to_live`.
struct lease_rule {
  std::string prefix;
  std::chrono::seconds time_to_live;
};
lease_rule events_with_leases(std::chrono::nanoseconds time_to_live);

// The current lease for new objects, for as long as it may be shared.
class shared_lease {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit shared_lease(std::chrono::seconds time_to_live) : time_to_live_{time_to_live} {}

  // The time to live to request: that of the objects plus the time for which the lease is shared.
  std::chrono::seconds asked_time() const;
  // Adopts a granted lease. It was requested at `asked`, so it expires asked_time() later or more.
  void begin(lease_id lease, time_point asked);
  // The lease for that many objects; nothing if a new one is necessary.
  std::optional<lease_id> take(std::size_t objects, time_point now);
  // `lease` has expired. Keeps the current lease if it is a later one.
  void forget(lease_id lease);

 private:
  const std::chrono::seconds time_to_live_;
  lease_id lease_ = 0;
  time_point until_;  // end of the time in which new objects may share it
  std::size_t objects_ = 0;
};

class leased_log final : public forwarding_log {
 public:
  leased_log(std::unique_ptr<shared_log> log, lease_rule rule);
  // The log must outlive this, which does not close it.
  leased_log(shared_log& log, lease_rule rule);
  ~leased_log() override;

  void submit(log_transaction request, std::function<void(log_answer)> done) override;

 private:
  class sender;

  const std::shared_ptr<sender> sender_;  // answers may arrive after destruction
};

}  // namespace troupe::persistence
