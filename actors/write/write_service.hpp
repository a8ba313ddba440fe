// The write service: every change of the cluster's state goes through it, a client's and a
// controller's.
//
// A client's write (`carry_out`) is proposed from the newest state, goes through the stages of
// pipeline.hpp and is committed; when somebody else was faster it is proposed and admitted again, a
// bounded number of times. A transaction that is ready (`submit`) was admitted by whoever made it
// (creation.hpp). Both keep the capacity of the cluster, the quotas of namespaces and the keys of
// what Services have.
//
// Asynchronous: no thread waits. Where nobody outside is to be asked, all stages run on the calling
// thread, straight to the store's queue. Else the write waits as a value (review.hpp), and goes on
// by a thread of the service's own when the answer is there, or fails at its time-out. Thread safe.
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
  // It is told on a commit thread, which is everybody's: nothing may be encoded there.
  bool committing = false;
  // Of the attempt that counts.
  admission::remarks remarks = {};
};

struct write_request {
  // Called for each attempt, on the calling thread or another one. It must give up (409) by itself
  // where the client demands a revision that has passed.
  std::function<api::expected<proposal>(const persistence::snapshot& state)> propose;
  // Called once, on any thread, perhaps before carry_out returns.
  std::function<void(write_outcome outcome)> done;
  persistence::change_cause cause = {};
  admission::user by = {};          // lives as long as `done`
  persistence::revision fence = 0;  // of the term that it is written for
  bool dry_run = false;             // stops before the commit, and shows the result
  // So many attempts are answered with a conflict, untried; for simulations.
  int false_conflicts = 0;
};

struct write_options {
  // Null: there is no bound.
  std::shared_ptr<const actors::capacity> capacity = nullptr;
  std::shared_ptr<quota::quota_ledger> quotas = nullptr;    // null: they are not kept
  std::shared_ptr<const admission::chain> chain = nullptr;  // null: the built-in plugins
  // False: attempts go on where they are; for simulations, which have one thread.
  bool threads = true;
};

class write_service {
 public:
  // Store and clock outlive it.
  write_service(persistence::store& store, const runtime::clock& time, write_options options);
  // Writes that wait for an answer from outside fail with 503.
  ~write_service();

  void carry_out(write_request request);
  // `done` runs on a commit thread, or here where it is refused at once.
  void submit(persistence::transaction transaction, persistence::completion done);
  // store::barrier, behind what was submitted here before and still waits for an answer from
  // outside.
  void barrier(persistence::barrier_completion done);

  // Whether any step of admission is outside.
  bool asks_outside() const noexcept;
  // Fails writes that have waited too long for an answer; called each `defaults::outside_round`.
  void expire();

  struct counts {
    std::uint64_t committed = 0, conflicts = 0, failed = 0, under_way = 0, waiting_outside = 0;
  };
  counts count() const;

 private:
  struct attempt;
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace troupe::actors
