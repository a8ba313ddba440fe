// Who leads of the control planes that share a log.
//
// The leader has a key that lives as long as its lease. Who finds no such key writes it; whoever's
// it is leads, from the revision at which it was created. That revision is the fence: every
// transaction of the term compares it, so nothing of a term happens after the key has gone, however
// late its leader learns of it. What the election is told comes from applied steps alone, so a new
// leader has seen all that earlier ones did.
//
// Of the thread of the log.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "persistence/replica/log_record.hpp"

namespace troupe::persistence {

class election {
 public:
  // `name` differs from that of every other candidate and of every earlier start.
  // `changed`: the fence of a term that begins, 0 where one ends.
  election(shared_log& log, std::string name, std::chrono::seconds time_to_live,
           std::function<void(revision fence)> changed);

  void begin(const leader_change& known);
  void on_leader(const leader_change& seen);
  // Ends the term, and the lease at once instead of with its time.
  void resign();

 private:
  void ask_lease();
  void on_lease(const expected<lease_id>& given);
  void stand();
  void on_stood(const log_answer& told);
  void renew();
  void on_renewed(const expected<std::chrono::seconds>& left);
  void lead(revision fence);
  void later(std::chrono::milliseconds delay, void (election::*work)());

  shared_log& log_;
  const std::string name_;
  const std::chrono::seconds time_to_live_;
  const std::function<void(revision fence)> changed_;
  lease_id lease_ = 0;
  std::chrono::steady_clock::time_point renewed_;
  leader_change known_;
  revision fence_ = 0;
  bool standing_ = false;
  bool resigned_ = false;
};

}  // namespace troupe::persistence
