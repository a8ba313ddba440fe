// The leader election among the control planes that share a log.
//
// The leader holds a key that lives as long as its lease. A candidate writes the key if it is
// absent; the owner of the key leads, from the key's create revision on. That revision is the
// fence: every transaction of the term compares it, so none of them commits after the key is gone,
// however late the leader learns of that. The election sees only applied steps, so a new leader has
// seen all changes of earlier ones.
//
// Runs on the thread of the log.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "persistence/replica/defaults.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence {

class election {
 public:
  // `node` has no blanks. `changed` gets the fence of a term that begins, or 0 when it ends.
  election(shared_log& log, std::string node, std::chrono::seconds time_to_live,
           std::function<void(revision fence)> changed);

  void begin(const leader_record& known);
  void on_leader(const leader_record& seen);
  // Ends the term and deletes the key, with `tag`, so that others see a resignation. Calls `done`
  // when the log has answered.
  void resign(const log_tag& tag, std::function<void()> done);
  // Ends the candidacy without a transaction, which could meet the key of another leader: for a log
  // that was restored.
  void stop();
  // 0: this control plane does not lead.
  revision fence() const noexcept { return fence_; }

 private:
  void request_lease();
  void on_lease(const expected<lease_id>& given);
  void campaign();
  void on_candidacy(lease_id with, const log_answer& reply);
  void renew();
  void on_renewed(const expected<std::chrono::seconds>& left);
  void retry_renewal();
  void lead(revision fence);
  void later(std::chrono::milliseconds delay, void (election::*work)());

  shared_log& log_;
  const std::string node_;
  const std::string candidate_;
  const std::chrono::milliseconds time_to_live_;
  const std::function<void(revision fence)> changed_;
  lease_id lease_ = 0;
  std::chrono::steady_clock::time_point renewed_;
  std::chrono::milliseconds renewal_retry_after_{defaults::log_retry_first};
  leader_record known_;
  revision fence_ = 0;
  bool campaigning_ = false;
  std::chrono::milliseconds retry_after_{defaults::log_retry_first};  // of campaign()
  bool resigned_ = false;
};

}  // namespace troupe::persistence
