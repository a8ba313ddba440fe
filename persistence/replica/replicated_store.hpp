// The store of a control plane in a cluster with several: a shared log commits transactions, and a
// local replica follows the log.
//
//   submit → log → step → the local store, as a replica → observer → answer
//
// The log alone decides on a transaction. The answer is given when the step of the transaction has
// been applied here; a conflict is reported when the state here is as new as the conflicting one.
// So all guarantees of store.hpp hold, with the log's revisions.
//
// The step of an own transaction is known as soon as the log has answered. It is applied without
// waiting for the stream if all earlier steps have been applied. So a slow stream delays only the
// writes of others. Steps that arrive together are one batch of the replica.
//
// When the log answers `unknown`, the session is raised (log_record.hpp): once the raised session
// has been applied, a transaction that has not committed never will, and is sent again. After
// `log_limits::answer` a client gets `unknown`, or `read_only` if nothing was sent. A barrier, too,
// asks the log again until then.
//
// A full log refuses every transaction that writes a value, also the cause. A transaction that only
// removes objects is then sent without its cause.
//
// The replica is written without syncs. State that a kill loses, or that the log has compacted, is
// fetched again: as steps while the log has them, else as a whole state, at which history restarts.
// So is the state if the audit (replica_audit.hpp) finds a difference. It compares one page in each
// check period, while the log is followed.
//
// A log that was restored from a backup has another history under the same revisions
// (restored_log.hpp). That is detected by the revision of an own write, by the anchor before the
// log is followed, or by the cluster's record, whose base another control plane has raised. The
// store then serves nothing any more (`restored`), until it is opened with the new base.
//
// Threads: as store.hpp. Completions and the observer run on the thread of the log.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "persistence/replica/defaults.hpp"
#include "persistence/replica/election.hpp"
#include "persistence/replica/log_compaction.hpp"
#include "persistence/replica/log_record.hpp"
#include "persistence/replica/replica_audit.hpp"
#include "persistence/replica/restored_log.hpp"
#include "persistence/replica/whole_state.hpp"
#include "persistence/store/audited.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence {

// The options of a control plane that may lead.
struct candidacy {
  std::string node;  // without blanks
  std::chrono::seconds lease;
  // The period of log compaction while it leads (log_compaction.hpp); 0: never.
  std::chrono::seconds compaction_interval{0};
};

struct log_limits {
  std::chrono::milliseconds check_period = defaults::log_check_period;
  std::chrono::milliseconds answer = defaults::log_answer_limit;
};

class replicated_store final : public store, public audited, private log_reader {
 public:
  // Begins to follow the log; barrier() reports when the replica has caught up. `identity` is
  // unique for each log and each base of its revisions. `member` is the unique name of this control
  // plane, without blanks; empty: the name in the directory's mark.
  static expected<std::unique_ptr<replicated_store>> open(
      store_options options, engine_factory factory, std::unique_ptr<shared_log> log,
      const std::string& identity, std::string member = {}, log_limits limits = {});
  // Becomes a candidate (election.hpp). `changed` runs on the thread of the log: with the fence of
  // a term that begins here, with 0 when it ends. Call it once.
  void campaign(candidacy mine, std::function<void(revision fence)> changed);
  // Calls `done` on that thread when leadership is given up, or the log does not answer.
  void resign(std::function<void()> done);

  // Completes waiting transactions with `closed`.
  ~replicated_store() override;

  void submit(transaction request, completion done) override;
  void barrier(barrier_completion done) override;
  snapshot read() const override { return replica_->read(); }
  expected<snapshot> read_at(revision at) const override { return replica_->read_at(at); }
  expected<snapshot> rebuild(revision at) override { return replica_->rebuild(at); }
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
  std::optional<error> refusal() const override;
  std::uint64_t audit_differences() const override;
  std::string cluster_id() const override { return replica_->cluster_id(); }

 private:
  using time_point = std::chrono::steady_clock::time_point;

  struct pending {
    log_transaction request;  // as it was submitted
    cause_record cause;
    std::vector<mutation> mutations;  // their contents move to the step that the answer creates
    revision fence = 0;
    std::string group_key;  // empty: in no serial group
    completion done;
    std::size_t size_bytes = 0;
    revision session = 0;  // the session that it was sent with; 0: not sent
    bool unknown = false;
    bool decided = false;        // the log has answered; waits until the state here is new enough
    bool without_cause = false;  // sent without it, since the log is full: its step has no tag
    time_point since;
  };
  struct question {
    barrier_completion done;
    std::uint64_t behind = 0;  // submitted transactions with sequences below this come first
    time_point since;
    revision newest = 0;  // 0: not known yet
    bool asked = false;
  };
  // A callback that waits until the state here has reached a revision.
  struct later {
    revision at;
    std::function<void()> answer;
  };

  replicated_store(std::unique_ptr<local_store> replica, std::unique_ptr<shared_log> log,
                   std::string identity, std::string member, log_limits limits);

  // -- transactions
  log_transaction complete(std::uint64_t sequence, const pending& from) const;
  void send_waiting();
  void on_answer(std::uint64_t sequence, const log_answer& reply);
  void send_again(std::uint64_t sequence);
  void evaluate(std::uint64_t sequence, pending& mine, const log_answer& reply);
  void note_full(const log_answer& reply, bool writes_nothing);
  void settle_full();
  void refuse_full(std::uint64_t sequence, const error& reason);
  void when_applied(revision at, std::function<void()> work);
  void answer_when_applied(revision at, std::uint64_t sequence, outcome result);
  void answer_removal(revision at, std::uint64_t sequence);
  void answer(std::uint64_t sequence, outcome result);
  void answer_all(const std::function<std::optional<error>(const pending&)>& evaluate);
  void raise_session();
  void on_session(const log_answer& reply, revision before);
  void on_session_applied(revision at);

  // -- the log
  void on_steps(std::vector<log_step> steps) override;
  void on_end(error reason) override;
  void accept(read_step next);
  void accept_answered();
  std::optional<read_step> step_of(std::uint64_t sequence, revision at);
  bool apply_ready();
  void answer_own(std::uint64_t sequence, const std::vector<std::string>& keys,
                  const committed& made);
  std::vector<outcome> take(std::vector<decided_step> steps);
  void follow();
  void on_anchor(const log_anchor& anchor, const expected<log_page>& page);
  void follow_same();
  void find_leader();
  void retry_follow(const error& reason);
  void refuse_restored(const std::string& reason);
  void read_whole_state();
  void on_page(std::uint64_t reading, expected<log_page> page);
  void audit();
  void on_difference(const audit_result& found);
  void stop_following();
  void observe_leader(const leader_record& seen);
  void retry(const error& reason, std::function<void()> work);

  // -- barriers
  bool begin_asking();
  void request_newest();
  void on_newest(expected<revision> newest);
  void ask_later();
  void answer_ready();

  // -- time-outs
  void check();
  void expire_old(time_point now);

  const std::unique_ptr<local_store> replica_;
  const std::string identity_, member_;
  const log_limits limits_;

  mutable std::mutex mutex_;
  std::uint64_t next_sequence_ = 1;
  std::map<std::uint64_t, pending> pending_;
  std::size_t pending_bytes_ = 0;
  std::deque<std::uint64_t> waiting_;
  // Refused for lack of space in the log; the outcome is not known yet.
  std::vector<std::pair<std::uint64_t, error>> refused_;
  bool settling_ = false;
  bool is_full_ = false;  // the log, as it answered the last write
  std::size_t under_way_ = 0;
  revision session_revision_ = 0;  // 0: none yet
  bool raising_ = false;
  bool is_following_ = false;  // changed on the log's thread alone
  revision known_ = 0;         // the newest revision that the log has reported
  time_point heard_ = std::chrono::steady_clock::now();  // when the log last answered a look
  std::vector<question> questions_;
  bool asking_ = false;  // also while it is tried again later
  std::chrono::milliseconds question_retry_after_{defaults::log_retry_first};
  revision asked_known_ = 0;              // `known_` when the newest revision was asked for
  std::optional<error> restored_;         // changed on the log's thread alone
  std::atomic<bool> is_restored_{false};  // each request asks it
  bool sending_ = false;
  leadership shown_leader_;
  std::vector<later> later_;
  std::uint64_t conflicts_ = 0;
  std::uint64_t differences_ = 0;

  std::mutex replica_mutex_;  // for changes of the replica, not for reads
  // State of the log's thread.
  revision applied_;
  revision applied_then_ = 0;  // at the last call of check()
  // Steps that follow `applied_`, up to `accepted_`, and will be applied next.
  std::vector<read_step> ready_;
  std::size_t ready_bytes_ = 0;
  revision accepted_;
  // Own transactions by the revision of the log's answer, with earlier steps still missing.
  std::map<revision, std::uint64_t> answered_;
  bool probing_ = false;
  std::unique_ptr<whole_state> reading_;
  std::uint64_t readings_ = 0;  // number of readings begun
  log_anchor anchor_;
  bool is_verifying_ = false;
  replica_audit audit_;
  bool is_wrong_ = false;  // the state must be read, at a revision that is not known here yet
  std::unique_ptr<election> election_;
  std::unique_ptr<log_compaction> compaction_;
  leader_record leader_;
  bool is_leader_known_ = false;  // false: begun with a copy, which does not contain it
  std::chrono::milliseconds retry_after_{defaults::log_retry_first};
  std::chrono::milliseconds session_retry_after_{defaults::log_retry_first};

  const std::unique_ptr<shared_log> log_;
};

}  // namespace troupe::persistence
