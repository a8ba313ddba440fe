// The store of a control plane whose cluster has several: a shared log decides, and what is here
// follows it.
//
//   submit → log → step → the local store, as a replica → observer → answer
//
// A transaction is judged by the log alone. It is answered when its step has been applied here, and
// a conflict when the state here is as new as the one that it was judged by. So all that store.hpp
// promises holds, with the log's revisions.
//
// When the log says `unknown`, the session is raised (log_record.hpp): as soon as the raised one
// has been applied, what has not happened never will, and is sent again. Who waits longer than
// `defaults::log_answer_limit` is told `io`: nobody knows.
//
// The replica is written without syncs. What a kill takes, or what the log has dropped, is fetched
// again: as steps while the log has them, else as a whole state, and history begins anew with it.
//
// Threads: as store.hpp. Completions and the observer run on the thread of the log.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "persistence/replica/defaults.hpp"
#include "persistence/replica/election.hpp"
#include "persistence/replica/log_record.hpp"
#include "persistence/replica/whole_state.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence {

class replicated_store final : public store, private log_reader {
 public:
  // Begins to follow; barrier() tells when it has caught up. `session`: differs from that of every
  // other control plane and of every earlier start; no blanks.
  static expected<std::unique_ptr<replicated_store>> open(store_options options,
                                                          engine_factory factory,
                                                          std::unique_ptr<shared_log> log,
                                                          std::string session);
  // Stands for leader from now on (election.hpp); `changed` runs on the thread of the log: with the
  // fence of a term that begins here, with 0 when it is over. Once.
  void campaign(std::string name, std::chrono::seconds time_to_live,
                std::function<void(revision fence)> changed);
  void resign();

  // What waits is answered with `closed`.
  ~replicated_store() override;

  void submit(transaction request, completion done) override;
  void barrier(barrier_completion done) override;
  snapshot read() const override { return replica_->read(); }
  expected<snapshot> read_at(revision at) const override { return replica_->read_at(at); }
  void pin(const snapshot& state) override { replica_->pin(state); }
  expected<std::vector<change>> changes(revision after, std::size_t limit) const override {
    return replica_->changes(after, limit);
  }
  using store::observe;
  void observe(batch_observer observer, state_index index) override;
  expected<void> compact(revision up_to) override;
  bool is_shared() const override { return true; }
  std::size_t transaction_limit() const override { return defaults::log_transaction_limit; }
  store_stats stats() const override;
  std::string cluster_id() const override { return replica_->cluster_id(); }

 private:
  struct pending {
    log_transaction request;  // as it was submitted
    cause_record cause;
    std::vector<std::string> keys;  // of the mutations
    revision fence = 0;
    completion done;
    revision session = 0;  // that it was sent with; 0: it waits
    bool unknown = false;
    bool decided = false;  // its answer waits until the state here is new enough
    std::chrono::steady_clock::time_point since;
  };
  struct question {
    barrier_completion done;
    std::uint64_t behind = 0;  // sequences below this were submitted before
    revision newest = 0;       // 0: not known yet
    bool asked = false;
  };
  // Waits until the state here is that new.
  struct later {
    revision at;
    std::function<void()> answer;
  };
  replicated_store(std::unique_ptr<local_store> replica, std::unique_ptr<shared_log> log,
                   std::string session);

  void begin();

  // -- transactions
  log_transaction complete(std::uint64_t sequence, const pending& from) const;
  void send_waiting();
  void on_answer(std::uint64_t sequence, const log_answer& told);
  void send_again(std::uint64_t sequence);
  void when_applied(revision at, std::function<void()> work);
  void answer(std::uint64_t sequence, outcome result);
  void answer_all(const std::function<bool(const pending&)>& which, const error& reason);
  void raise_session();
  void on_session(const log_answer& told);
  void on_session_applied(revision at);

  // -- the log
  void on_steps(std::vector<log_step> steps) override;
  void on_end(error reason) override;
  expected<void> apply(log_step from);
  outcome take(decided_step step);
  void follow();
  void read_whole_state();
  void on_page(expected<log_page> page);
  expected<void> take_page(log_page page);
  void see_leader(const leader_change& seen);
  void retry(const error& reason, std::function<void()> work);

  // -- questions
  void ask_newest();
  void on_newest(const expected<revision>& newest);
  void answer_ready();

  const std::unique_ptr<local_store> replica_;
  const std::string session_;

  mutable std::mutex mutex_;
  std::uint64_t next_sequence_ = 1;
  std::map<std::uint64_t, pending> pending_;
  std::deque<std::uint64_t> waiting_;
  std::size_t under_way_ = 0;
  revision session_revision_ = 0;  // 0: none yet
  bool raising_ = false;
  bool is_following_ = false;
  std::vector<question> questions_;
  bool asking_ = false;
  std::vector<later> later_;
  std::uint64_t conflicts_ = 0;

  std::mutex replica_mutex_;  // of what changes the replica, but for reading
  // Of the log's thread.
  revision applied_;
  std::unique_ptr<whole_state> reading_;
  std::unique_ptr<election> election_;
  leader_change leader_;
  std::chrono::milliseconds retry_after_{defaults::log_retry_first};

  // Last: it calls back until it has gone.
  std::unique_ptr<shared_log> log_;
};

}  // namespace troupe::persistence
