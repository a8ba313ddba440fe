// The write service: every change of the cluster's state, by a client or a controller, goes through
// it.
//
// A client's write (`carry_out`) is proposed from the newest state, passes the stages of
// pipeline.hpp and is committed. After a conflict it is proposed and admitted again, a bounded
// number of times. A complete transaction (`submit`) was admitted by its author (creation.hpp).
// Both respect the capacity of the cluster and the quotas of namespaces, and maintain the
// allocation keys of Services.
//
// Asynchronous: no thread waits. If no external step is called, all stages run on the calling
// thread up to the store's queue. Otherwise the write waits as a value (review.hpp) and resumes on
// a thread of the service when the answer arrives, or fails at its timeout. Thread safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "actors/defaults.hpp"
#include "actors/quota/quota_ledger.hpp"
#include "actors/write/admission/chain.hpp"
#include "actors/write/capacity.hpp"
#include "actors/write/proposal.hpp"
#include "api/error.hpp"
#include "persistence/store/store.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct write_outcome {
  api::expected<write_result> result;
  // Reported on a commit thread, which is shared: nothing may be encoded there.
  bool committing = false;
  // The remarks of the last attempt.
  admission::remarks remarks = {};
};

struct write_request {
  // Called for each attempt, on the calling thread or another one. It must return 409 itself if the
  // client requires a revision that is no longer current.
  std::function<api::expected<proposal>(const persistence::snapshot& state)> propose;
  // Called once, on any thread, perhaps before carry_out returns.
  std::function<void(write_outcome outcome)> done;
  persistence::change_cause cause = {};
  admission::user by = {};          // must stay valid until `done` has run
  persistence::revision fence = 0;  // of the leadership term in which it is written
  bool dry_run = false;             // stops before the commit and returns the result
  // The number of attempts that fail with a conflict without being tried; for simulations.
  int false_conflicts = 0;
};

struct write_options {
  // Null: no bound.
  std::shared_ptr<const actors::capacity> capacity = nullptr;
  std::shared_ptr<quota::quota_ledger> quotas = nullptr;    // null: not enforced
  std::shared_ptr<const admission::chain> chain = nullptr;  // null: the built-in plugins
  // False: attempts run on the current thread; for simulations, which have one thread.
  bool threads = true;
};

class write_service {
 public:
  // The store and the clock must outlive the service.
  write_service(persistence::store& store, const runtime::clock& time, write_options options);
  // Writes that wait for an external answer fail with 503.
  ~write_service();

  void carry_out(write_request request);
  // `done` runs on a commit thread, or here if it is rejected at once.
  void submit(persistence::transaction transaction, persistence::completion done);
  // Calls store::barrier after all earlier submissions, including those that wait for an external
  // answer.
  void barrier(persistence::barrier_completion done);

  // True if admission has any external step.
  bool has_external_steps() const noexcept;
  // Fails writes whose external step timed out; called each `defaults::external_round`.
  void expire();

  struct counts {
    std::uint64_t committed = 0, conflicts = 0, failed = 0, under_way = 0, waiting_external = 0;
  };
  counts count() const;

 private:
  struct attempt;
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace troupe::actors
