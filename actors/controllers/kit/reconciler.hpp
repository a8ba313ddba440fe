// The base class of all controllers: one actor for each owner object, which creates and changes
// other objects (its dependents) as the owner's spec requires. It maintains the state and decides
// when to sync; the derived class implements the sync in `sync()`.
//
// Its state (the owner, its dependents) is loaded from a snapshot at a resync: at the start, when
// the owner was replaced by another object of its name or its selector changed, when the
// supervisor may have lost events, when the writer did not answer, and each
// `defaults::resync_period`. Events from the supervisor and answers to its own writes then keep it
// current. The snapshot is read only after a barrier through the writer, so it contains all writes
// of this and earlier incarnations, also of an earlier leader: a crash between "create sent" and
// "create seen" creates nothing twice.
//
// A sync first adopts and releases dependents (claims.hpp), then calls `sync()`, then each step
// that was set by `then()`. A step starts when all writes of the previous one are answered, and the
// last step ends the sync. Only one sync runs at a time; changes meanwhile cause one more. After
// `retry()` it is repeated with back-off, which delays nothing else. No controller waits for
// another.
//
// Each write is logged at debug with the object and its revision; decisions that matter to an
// operator (`log_decision`) are logged at info, once for each sync.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/owner_supervisor.hpp"
#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"

namespace troupe::actors {

class reconciler : public runtime::actor {
 public:
  // `key`: the owner's key.
  reconciler(std::string key, controller_context_ptr context);

  const runtime::behavior& make_behavior() const final;
  void started() final;
  std::string describe() const override;

 protected:
  template <class Reply>
  using answer = tl::expected<const Reply*, runtime::request_error>;

  // -- for derived classes -----------------------------------------------------------------------

  // Compares the actual state with the desired one, and sends the writes that change it.
  virtual void sync() = 0;
  // Called at the end of each sync; schedules a later sync that depends on time (enqueue_in).
  virtual void after_sync() {}
  // Called when owner() has a new state or is another object.
  virtual void owner_changed() {}
  // True if a dependent like this is worth adopting or releasing.
  virtual bool claimable(const api::object_ptr&) const { return true; }
  // Called when an observed object has changed; returns true if a sync is needed.
  virtual bool take_observed(const watch_event&) { return true; }

  // The container of own dependents; for classes that keep them in another form, or index them.
  virtual void take(const std::string& key, const api::object_ptr& dependent);
  virtual void forget(const std::string& key);
  virtual void forget_all();
  // Null if there is no dependent with this key.
  virtual const api::object* find(const std::string& key) const;

  // -- its state ---------------------------------------------------------------------------------

  const std::string& key() const noexcept { return key_; }
  // Null only until the first resync is complete.
  const api::object_ptr& owner() const noexcept { return owner_; }
  using objects = std::map<std::string, api::object_ptr>;  // by key
  // Empty if the class keeps them in another form.
  const objects& dependents() const noexcept { return dependents_; }
  // The observed objects (controller_type::owner_kind::observes) by key, as of the last event; the
  // first call after a resync reads them from the store.
  const objects& observed();
  // The same, read from the store now by a scan of the namespace. The more objects it scans, the
  // longer the pause before the next sync.
  std::vector<api::object_ptr> observed_in_store();
  // The more objects this sync has scanned, the longer the pause before the next one.
  void count_scanned(std::size_t objects) noexcept {
    scanned_ += static_cast<std::int64_t>(objects);
  }
  // Sets the minimum pause between the end of this sync and the next one.
  void pause(runtime::duration least) noexcept { pause_ = std::max(pause_, least); }
  // Objects that the next sync adopts or releases.
  const objects& to_claim() const noexcept { return to_claim_; }
  persistence::snapshot read_store() const { return context_->store.read(); }
  const controller_settings& settings() const noexcept { return context_->settings; }
  // The CA certificates of the API server in PEM; empty if there are none.
  std::string authority() const;
  // The owner from the store; null if it was deleted or replaced by another of its name.
  api::object_ptr owner_in_store() const;
  // Updates the state with the object at `key` (the owner or a dependent) in the store, ahead of
  // its pending event.
  void refresh(const std::string& key);
  std::int64_t wall_seconds() const;

  bool syncing() const noexcept { return syncing_; }
  std::uint64_t syncs() const noexcept { return syncs_; }

  // -- when to sync -------------------------------------------------------------------------------

  // Runs a sync after all messages that are already queued: a burst of events causes one sync.
  void enqueue();
  // Runs a sync after `delay` at the latest, unless an earlier sync changes the plan.
  void enqueue_in(runtime::duration delay);
  // The same, but at the next resync at the latest: times in objects may lie in the far future, and
  // the wall clock may be set forward.
  void enqueue_in_seconds(std::int64_t delay);
  // Reloads the whole state, then syncs.
  void resync();
  // Marks the current sync as failed: it is repeated with back-off.
  void retry() noexcept { failed_ = true; }
  bool failed() const noexcept { return failed_; }

  // -- one sync -----------------------------------------------------------------------------------

  // Sets the next step, called when all writes are answered; without one the sync ends.
  template <class D>
  void then(void (D::*next)()) {
    next_ = static_cast<step>(next);
  }
  // Sends a request to the writer and counts it; `on_answer` gets the reply or the error.
  template <class Reply, class M, class F>
  void ask_writer(M message, F on_answer) {
    ++under_way_;
    request<Reply>(context_->core.writer, std::move(message), defaults::write_timeout,
                   [this, on_answer = std::move(on_answer)](const answer<Reply>& answered) {
                     on_answer(answered);
                     answer_taken(answered.has_value());
                   });
  }
  template <class F>
  void send_transaction(persistence::transaction transaction, F on_answer) {
    transaction.cause = change_cause();
    auto shared = std::make_shared<persistence::transaction>(std::move(transaction));
    ask_writer<commit_done>(commit{std::move(shared)}, std::move(on_answer));
  }
  // The answer of a write updates the state with the object in the store. Success leads to another
  // sync, failure to a retry.
  using on_success = std::function<void()>;
  // The commit was rejected by a quota or an external admission step. Not called for a conflict,
  // which is normal. A retry follows.
  using on_refusal = std::function<void(const std::string& problem)>;
  // Creates a dependent that this owner controls (except for a type with a dependent_name). Returns
  // an error if it is rejected before it is sent.
  api::expected<void> create(std::unique_ptr<api::body> content, on_success done = {},
                             on_refusal refused = {});
  // The same, and passes the name, which may be generated, to `done`.
  using on_created = std::function<void(const std::string& name)>;
  api::expected<void> create_named(std::unique_ptr<api::body> content, on_created done,
                                   on_refusal refused = {});
  // Creates an object that this owner does not control.
  api::expected<void> create_beside(std::unique_ptr<api::body> content, on_created done,
                                    on_refusal refused = {});
  // Writes a newer state of `before`, unless the object has changed since.
  void replace(const api::object_ptr& before, std::unique_ptr<api::body> after,
               on_success done = {});

  // Deletes a dependent like a client, unless it has changed since.
  void remove_dependent(const api::object_ptr& dependent, on_success done = {});

  // Records an event about the owner.
  void record(bool warning, std::string reason, std::string message);
  persistence::change_cause change_cause() const;

  // -- the log ------------------------------------------------------------------------------------

  // Logs a decision about the owner at info.
  void log_decision(std::string_view decision) const;
  // Logs a write at debug; `action` is a verb in the third person. The revision is that of the
  // object before a removal, and after any other write.
  void log_step(std::string_view action, std::string_view key, persistence::revision at) const;
  void log_failure(std::string_view action, std::string_view key, std::string_view problem) const;

 private:
  struct sync_due {};
  using step = void (reconciler::*)();

  // `action`: the verb for the log.
  void write(const char* action, persistence::transaction transaction, on_success done,
             on_refusal refused = {});

  void on_owner_event(const owner_event& change);
  void on_dependent(const dependent_event& change);
  void on_observed(const observed_event& change);
  void on_resync_request(const resync_request&);
  void on_sync_due(const sync_due&);

  void await_barrier();
  void load();
  void take_owner(const api::object_ptr& object);
  void take_dependent(const std::string& key, const api::object_ptr& object);
  void drop_dependent(const std::string& key);
  bool is_new_version(const std::string& key, const api::object& dependent) const;
  claim classify_dependent(const api::object& dependent) const;
  const std::string& dependents_namespace() const;
  void scan_observed(const persistence::snapshot& state,
                     const std::function<void(std::string_view, const api::object_ptr&)>& visit);
  void keep_observed(const watch_event& event);

  void begin_sync();
  void send_claims();
  claim send_claim(const std::string& key, const api::object_ptr& dependent);
  void answer_taken(bool answered);
  void settle();
  void end_sync();

  const std::string key_;
  const controller_context_ptr context_;

  // The state; valid once `loaded_`.
  api::object_ptr owner_;
  api::label_selector selector_, observes_;
  persistence::revision known_ = 0;  // the revision of the loaded snapshot
  objects dependents_, to_claim_;
  objects observed_;                       // filled by observed()
  persistence::revision observed_at_ = 0;  // the revision of `observed_`; 0: not loaded

  bool loaded_ = false;
  bool stale_ = false;    // resync once no sync is running
  bool waiting_ = false;  // for the barrier
  bool syncing_ = false, dirty_ = false, due_ = false, failed_ = false;
  std::uint32_t under_way_ = 0;
  step next_ = nullptr;
  runtime::duration backoff_{0};
  runtime::time_point wake_at_{}, earliest_{};
  std::int64_t scanned_ = 0;  // objects scanned by this sync
  runtime::duration pause_{0};
  runtime::timer wake_timer_, resync_timer_;
  std::uint64_t syncs_ = 0;
};

}  // namespace troupe::actors
