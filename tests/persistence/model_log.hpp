// A model in memory of a log that several control planes share: it has etcd's guarantees, and shows
// the effects of failing machines and networks, from a seed.
//
// `model_cluster` is the log itself; each store has a `model_log`, its connection. Requests and
// events between them advance in steps, by a thread of the connection or by the caller of step():
// requests overtake each other, responses are lost, transactions happen long after their response
// was lost, the stream of log steps ends.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence::testing {

class model_cluster {
 public:
  log_answer execute(const log_transaction& request);
  revision newest() const;
  lease_id grant();
  bool lives(lease_id lease) const;
  // 0: it has none, or is not there.
  lease_id lease_of(const std::string& key) const;
  void end(lease_id lease);
  void end_all_leases();
  // While it is full, as an etcd with an alarm of its quota: it refuses every transaction that
  // writes a value.
  void full(bool is_full);
  // Forgets the steps up to this revision.
  void compact(revision up_to);
  // As an etcd that is replaced by one from a backup of revision `to`: later steps did not happen.
  void restore(revision to);
  // How often it was restored.
  int restores() const;
  // At most `limit` steps after `after`; `compacted` if they were forgotten.
  expected<std::vector<log_step>> steps(revision after, std::size_t limit) const;
  expected<log_page> list(const log_range& range, std::size_t limit) const;
  // All steps ever, including compacted ones.
  const std::vector<log_step>& witness() const { return witness_; }
  // The newest value of each key.
  std::map<std::string, std::string> values() const;
  std::optional<log_item> find(const std::string& key) const;

 private:
  struct item {
    std::string value;
    revision created = 0, modified = 0;
    lease_id lease = 0;
  };
  using state = std::map<std::string, item>;
  state at(revision at) const;

  mutable std::mutex mutex_;
  revision newest_ = 1;
  revision compacted_ = 1;
  state state_, base_;  // now, and at `compacted_`
  std::deque<log_step> steps_;
  std::vector<log_step> witness_;
  std::set<lease_id> leases_;
  lease_id next_lease_ = 1;
  bool is_full_ = false;
  int restores_ = 0;
};

struct model_faults {
  std::uint64_t seed = 1;
  // Probabilities: that a response is lost, and then that the transaction happens later; that the
  // stream ends before a step; that a step with several objects is delivered without one of them.
  double lost = 0, late = 0.5, cut = 0, partial = 0;
  bool threaded = true;
};

class model_log final : public shared_log {
 public:
  model_log(model_cluster& cluster, model_faults faults);
  ~model_log() override;

  void close() override;
  void identity(std::function<void(expected<std::string>)> done) override;
  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override;

  void grant(std::chrono::seconds time_to_live,
             std::function<void(expected<lease_id>)> done) override;
  void renew(lease_id lease, std::chrono::milliseconds limit,
             std::function<void(expected<std::chrono::seconds>)> done) override;
  void revoke(lease_id lease, std::function<void()> done) override;
  void compact(revision up_to, std::function<void(expected<void>)> done) override;

  // Runs delayed actions at once: leases are renewed.
  void fire_slow();
  // Stops all steps until the reader asks again or they are resumed, and answers no request any
  // more.
  void stall_steps();
  void resume_steps();
  void stall_answers();
  // The requests that were sent and have not happened: they still may when the sender is gone.
  std::vector<log_transaction> unfinished();
  // Advances by one action; false if none is pending.
  bool step();
  void run();

 private:
  using event = std::function<void()>;

  void add(event next);
  event choose();
  log_transaction take_sent(std::uint64_t number);
  void carry_out(const log_transaction& request, const std::function<void(log_answer)>& done);
  bool is_behind() const;
  event next_steps();
  void lose_parts(std::vector<log_step>& steps);
  void work();

  model_cluster& cluster_;
  const model_faults faults_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 random_;
  std::deque<event> events_, slow_;
  std::map<std::uint64_t, log_transaction> sent_;  // not carried out yet
  std::uint64_t next_request_ = 0;
  std::vector<log_transaction> late_;
  log_reader* reader_ = nullptr;
  revision position_ = 0;
  int restores_ = 0;  // of the cluster, when the stream began
  bool stalled_ = false, silent_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace troupe::persistence::testing
