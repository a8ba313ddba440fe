// The base of every controller: one actor for each object (the owner) that makes others (its
// dependents) be as the owner wants them. It knows when to look and what there is; the derived
// class says in `sync()` what to do about it.
//
// What it knows (the owner, its dependents) comes from a snapshot at a resync: at its start, when
// another object has the owner's name or the owner's selector has changed, when the supervisor may
// have missed changes, when the writer did not answer, and each `defaults::resync_period`. From
// there on changes keep it up to date, which the supervisor sends, and the answers to its own
// writes. The snapshot is read only behind a barrier through the writer: whatever this or an
// earlier incarnation had sent, here or in a control plane that has led before, is in the snapshot
// then, so that a crash between "create sent" and "create seen" makes nothing twice.
//
// A sync first adopts and releases dependents (claims.hpp), then calls `sync()`, then each further
// step that was set by `then()`. All that a step sends is answered before the next one, and the
// last one ends the sync. One sync is under way at a time; changes that come in meanwhile make one
// more. After `retry()` it is repeated with back-off, which delays nothing else. Nothing waits for
// another controller.
//
// In the log each write is a step (debug), with the object and its revision; what an operator would
// ask about (`tell_operator`) is there once for a sync.
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
  // `key`: of the owner.
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
  // At the end of each sync; asks for the next one where time alone will need it (enqueue_in).
  virtual void after_sync() {}
  // owner() is another state of it, or another object.
  virtual void owner_changed() {}
  // Whether such a dependent is worth being adopted or released.
  virtual bool claimable(const api::object_ptr&) const { return true; }
  // An object that it observes has changed: whether that calls for a sync.
  virtual bool take_observed(const watch_event&) { return true; }

  // Own dependents as they come, change and go, for classes that keep them in a form of their own.
  virtual void take(const std::string& key, const api::object_ptr& dependent);
  virtual void forget(const std::string& key);
  virtual void forget_all();
  // Null when it has none of that key.
  virtual const api::object* find(const std::string& key) const;

  // -- its state ---------------------------------------------------------------------------------

  const std::string& key() const noexcept { return key_; }
  // Null before the first resync has come to its end, and only then.
  const api::object_ptr& owner() const noexcept { return owner_; }
  using objects = std::map<std::string, api::object_ptr>;  // by key
  // Empty when the class overrides take().
  const objects& dependents() const noexcept { return dependents_; }
  // What it observes (controller_type::owner_kind::observes), by key: as far as the supervisor has
  // told it, from the store at the first call after a resync.
  const objects& observed();
  // The same as the store has it now: a scan of the namespace. The next sync begins the later, the
  // more there was to look at.
  std::vector<api::object_ptr> observed_in_store();
  // The next sync begins the later, the more objects this one has looked at.
  void looked_at(std::size_t objects) noexcept { looked_at_ += static_cast<std::int64_t>(objects); }
  // Between the end of this sync and the next one, at least.
  void pause(runtime::duration least) noexcept { pause_ = std::max(pause_, least); }
  // Those to be adopted or released by the next sync.
  const objects& to_claim() const noexcept { return to_claim_; }
  persistence::snapshot read_store() const { return context_->store.read(); }
  // The certificates by which clients know the API server, PEM; empty where there are none.
  std::string authority() const;
  // The owner as the store has it; null when it has gone, or is another one of that name.
  api::object_ptr owner_in_store() const;
  // Takes in what the store has at `key`, the owner's or a dependent's, ahead of the change that is
  // on its way here.
  void refresh(const std::string& key);
  std::int64_t wall_seconds() const;

  bool syncing() const noexcept { return syncing_; }
  std::uint64_t syncs() const noexcept { return syncs_; }

  // -- when to sync -------------------------------------------------------------------------------

  // After the messages that already wait: a burst of changes makes one sync.
  void enqueue();
  // At the latest after `delay`, unless a sync before changes the plan.
  void enqueue_in(runtime::duration delay);
  // Reads everything again, then syncs.
  void resync();
  // The sync that is under way has failed, or met a conflict.
  void retry() noexcept { failed_ = true; }
  bool failed() const noexcept { return failed_; }

  // -- one sync -----------------------------------------------------------------------------------

  // What is called when all that was sent has been answered, in place of the end of the sync.
  template <class D>
  void then(void (D::*next)()) {
    next_ = static_cast<step>(next);
  }
  // Sends a request to the writer and counts it; `on_answer` gets the answer or the error.
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
  // A write's answer is taken in with what the store then has at its key. Success leads to another
  // sync, failure to a retry.
  using on_success = std::function<void()>;
  // A write was refused when it was to be committed, by a quota or somebody outside: not for a
  // conflict, which is normal. A retry follows.
  using on_refusal = std::function<void(const std::string& problem)>;
  // Creates a dependent, which this owner controls (but for one of a certain name). An error when
  // it is refused before it is sent.
  api::expected<void> create(std::unique_ptr<api::body> content, on_success done = {},
                             on_refusal refused = {});
  // The same, for who wants to know its name, which may be generated.
  using on_created = std::function<void(const std::string& name)>;
  api::expected<void> create_named(std::unique_ptr<api::body> content, on_created done,
                                   on_refusal refused = {});
  // Creates an object that this owner does not control.
  api::expected<void> create_beside(std::unique_ptr<api::body> content, on_created done,
                                    on_refusal refused = {});
  // Writes a newer state of `before`, unless it has changed since.
  void replace(const api::object_ptr& before, std::unique_ptr<api::body> after,
               on_success done = {});

  // Deletes a dependent as a client would, unless it has changed since.
  void remove_dependent(const api::object_ptr& dependent, on_success done = {});

  // An event about the owner.
  void record(bool warning, std::string reason, std::string message);
  persistence::change_cause change_cause() const;

  // -- the log ------------------------------------------------------------------------------------

  // A line at info about the owner: the decision.
  void tell_operator(std::string_view decision) const;
  // A line at debug about an object: `deed` is a verb in the third person. The revision is that of
  // the object, before a removal and after any other write.
  void tell_step(std::string_view deed, std::string_view key, persistence::revision at) const;
  void tell_failure(std::string_view deed, std::string_view key, std::string_view problem) const;

 private:
  struct sync_due {};
  using step = void (reconciler::*)();

  // `deed`: for the log.
  void write(const char* deed, persistence::transaction transaction, on_success done,
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
  bool is_news(const std::string& key, const api::object& dependent) const;
  claim judge_dependent(const api::object& dependent) const;
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

  // Its state; valid once `loaded_`.
  api::object_ptr owner_;
  api::label_selector selector_, observes_;
  persistence::revision known_ = 0;  // changes up to here are in the snapshot that was loaded
  objects dependents_, to_claim_;
  objects observed_;                       // where observed() is called
  persistence::revision observed_at_ = 0;  // changes up to here are in it; 0: nothing is

  bool loaded_ = false;
  bool stale_ = false;    // to resync as soon as no sync is under way
  bool waiting_ = false;  // for the barrier
  bool syncing_ = false, dirty_ = false, due_ = false, failed_ = false;
  std::uint32_t under_way_ = 0;
  step next_ = nullptr;
  runtime::duration backoff_{0};
  runtime::time_point wake_at_{}, earliest_{};
  std::int64_t looked_at_ = 0;  // objects that this sync has scanned
  runtime::duration pause_{0};
  runtime::timer wake_timer_, resync_timer_;
  std::uint64_t syncs_ = 0;
};

}  // namespace troupe::actors
