// A shared log in which what is written below one prefix (Events) ends by itself: it is written
// with a lease of the log, as kube-apiserver writes them. Many objects share a lease; when it ends,
// the log removes them all at one revision, and nobody needs to sweep.
//
// A key that is written again gets the newest lease, as from kube-apiserver: it lives for its time
// from then on. One that is not keeps the lease that it has, whoever gave it.
//
// A lease that has ended before its time (an etcd that was restored, a machine that slept) refuses
// what names it: another one is taken, and the transaction is sent once more.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "persistence/replica/forwarding_log.hpp"

namespace troupe::persistence {

// Objects whose keys begin so live for so long.
struct lease_rule {
  std::string prefix;
  std::chrono::seconds time_to_live;
};
lease_rule events_with_leases(std::chrono::nanoseconds time_to_live);

// The lease that is given to new objects, for as long as it may be shared.
class shared_lease {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit shared_lease(std::chrono::seconds time_to_live) : time_to_live_{time_to_live} {}

  // What is to be asked for: longer than the objects live, by as long as it is shared.
  std::chrono::seconds asked_time() const;
  // It was asked for at `asked`, and cannot end earlier than its time after that.
  void begin(lease_id lease, time_point asked);
  // For that many objects; nothing where another one is needed.
  std::optional<lease_id> take(std::size_t objects, time_point now);
  // It has ended. Not one that came after it.
  void forget(lease_id lease);

 private:
  const std::chrono::seconds time_to_live_;
  lease_id lease_ = 0;
  time_point until_;  // how long it may be given
  std::size_t objects_ = 0;
};

class leased_log final : public forwarding_log {
 public:
  leased_log(std::unique_ptr<shared_log> log, lease_rule rule);
  // The log outlives it, and is not closed with it.
  leased_log(shared_log& log, lease_rule rule);
  ~leased_log() override;

  void submit(log_transaction request, std::function<void(log_answer)> done) override;

 private:
  class sender;

  const std::shared_ptr<sender> sender_;  // answers may come when this has gone
};

}  // namespace troupe::persistence
