// One sync of a controller, step by step: claims, replicas, status.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "actors/controllers/claims.hpp"
#include "actors/controllers/replication/defaults.hpp"
#include "actors/controllers/replication/pod_template.hpp"
#include "actors/controllers/replication/ranking.hpp"
#include "actors/controllers/replication/replica_controller.hpp"
#include "actors/core/log.hpp"
#include "actors/core/store_error.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

using api::core::v1::Pod;

// -- when to sync ---------------------------------------------------------------------------------

// Requests a sync after the messages that already wait: a burst of pod changes makes one sync. A
// back-off delays only its own retry, not the reaction to changes.
void replica_controller::enqueue() {
  dirty_ = true;
  if (syncing_ || due_) return;
  due_ = true;
  tell(self(), sync_due{});
}

void replica_controller::on_sync_due(const sync_due&) {
  due_ = false;
  if (syncing_ || fencing_) return;
  if (stale_) return fence();
  if (loaded_ && dirty_) begin_sync();
}

void replica_controller::begin_sync() {
  ++syncs_;
  syncing_ = true;
  dirty_ = false;
  retry_ = false;
  failure_.reset();
  retry_timer_.cancel();
  expiry_timer_.cancel();
  recheck_timer_.cancel();
  claim_pods();
}

void replica_controller::end_sync() {
  syncing_ = false;
  if (failure_ || retry_) {
    backoff_ =
        std::clamp<runtime::duration>(backoff_ * 2, defaults::retry_first, defaults::retry_longest);
    retry_timer_ = after(backoff_, [this] { enqueue(); });
  } else {
    backoff_ = runtime::duration{0};
    if (full_)
      retry_timer_ =
          after(std::max<runtime::duration>(full_->until - now(), {}), [this] { enqueue(); });
  }
  if (dirty_) return enqueue();
  if (!expectations_.satisfied(now()))
    expiry_timer_ = after(expectations_.expires_at() - now(), [this] { resync(); });
  // From the moment for which the status was calculated: writing it may have taken longer than was
  // left then.
  if (const auto next = tally_.next_available_in(reported_for_)) {
    const auto left = std::max<std::int64_t>(reported_for_ + *next - wall_seconds(), 0);
    recheck_timer_ = after(std::chrono::seconds{left}, [this] { enqueue(); });
  }
}

// -- transactions ---------------------------------------------------------------------------------

template <class F>
void replica_controller::send_transaction(persistence::transaction transaction, F on_answer) {
  ++under_way_;
  transaction.cause = change_cause();
  request<commit_done>(
      core_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      defaults::write_timeout, [this, on_answer = std::move(on_answer)](const answer& answered) {
        on_answer(answered);
        // It may still be written: a fence shows.
        if (!answered) stale_ = true;
        --under_way_;
        settle();
      });
}

// Continues the sync once nothing is under way; a step may send more before it settles.
void replica_controller::settle() {
  while (under_way_ == 0 && next_ != nullptr)
    (this->*std::exchange(next_, nullptr))();
}

void replica_controller::failed(std::string reason, std::string message) {
  if (!failure_) failure_ = replica_failure{std::move(reason), std::move(message)};
}

// -- claims ---------------------------------------------------------------------------------------

void replica_controller::claim_pods() {
  next_ = &replica_controller::adjust_replicas;
  for (const auto& [key, pod] : std::exchange(to_adopt_, {}))
    adopt(pod);
  for (const auto& [key, pod] : std::exchange(to_release_, {}))
    release(pod);
  settle();
}

// Adopts only after a fresh read of the owner, and commits only if the owner is still what was
// read: an owner that was deleted and made again under the same name adopts nothing by mistake.
void replica_controller::adopt(const api::object_ptr& pod) {
  const auto fresh = store_.read().find(key_);
  if (!fresh || fresh->meta().uid() != owner_->uid() || fresh->meta().has_deletion_timestamp())
    return;
  auto changed = pod->copy_as<Pod>();
  add_controller_reference(*owner_->object(), *changed->mutable_metadata());
  const auto pod_key = api::key_of(*pod);
  persistence::transaction transaction;
  transaction.preconditions = {{key_, fresh->revision()}, {pod_key, pod->revision()}};
  transaction.mutations.push_back({pod_key, &pod->kind(), std::move(changed)});
  expectations_.expect_creation(pod_key, now());
  send_transaction(std::move(transaction), [this, pod_key](const answer& answered) {
    if (answered && (*answered)->result) return;
    expectations_.creation_observed(pod_key);
    claim_again(pod_key);
  });
}

void replica_controller::release(const api::object_ptr& pod) {
  auto changed = pod->copy_as<Pod>();
  remove_controller_reference(*owner_->object(), *changed->mutable_metadata());
  const auto pod_key = api::key_of(*pod);
  persistence::transaction transaction;
  transaction.preconditions = {{pod_key, pod->revision()}};
  transaction.mutations.push_back({pod_key, &pod->kind(), std::move(changed)});
  send_transaction(std::move(transaction), [this, pod_key](const answer& answered) {
    if (!answered || !(*answered)->result) claim_again(pod_key);
  });
}

// -- replicas -------------------------------------------------------------------------------------

// In the store the owner may be deleted already, or another one of its name: pods that are created
// for it now would be removed by the garbage collector.
bool replica_controller::owner_stands() const {
  const auto fresh = store_.read().find(key_);
  return fresh && fresh->meta().uid() == owner_->uid();
}

void replica_controller::adjust_replicas() {
  next_ = &replica_controller::report_status;
  if (!owner_stands()) {
    resync();
  } else if (!owner_->deleting() && expectations_.satisfied(now())) {
    const auto counts = tally_.counts(wall_seconds());
    const auto active = static_cast<std::size_t>(counts.active);
    const auto todo = make_plan(owner_->replicas(), active, defaults::burst_replicas);
    if (todo.create > 0) {
      create_pods(todo.create, static_cast<std::size_t>(counts.waiting));
    } else {
      full_.reset();
      if (todo.remove > 0) delete_pods(todo.remove);
    }
  }
  settle();
}

void replica_controller::create_pods(std::size_t count, std::size_t waiting) {
  if (full_ && now() < full_->until) return;
  full_.reset();
  if (stay_ahead(count, waiting, defaults::waiting_pods) > 0) {
    starter_ = slow_start{count};
    return create_batch();
  }
  if (std::exchange(pause_told_, owner_->generation()) == owner_->generation()) return;
  const auto message =
      fmt::format("{} pods wait for a node: more are created when some of them have one", waiting);
  // The event may be held back by the limit of events for one object, which all those pods used up.
  log().info("{}: {}", key_, message);
  record(false, "WaitingForNodes", message);
}

void replica_controller::create_batch() {
  const auto batch = starter_.next();
  if (batch == 0) {
    next_ = &replica_controller::report_status;
    return;
  }
  next_ = &replica_controller::create_batch;
  for (std::size_t i = 0; i < batch; ++i)
    create_one(defaults::name_tries);
}

void replica_controller::create_one(int tries_left) {
  auto pod = pod_from_template(*owner_);
  const auto give_up = [this](std::string message) {
    starter_.fail();
    record(true, "FailedCreate", "Error creating: " + message);
    failed("FailedCreate", std::move(message));
  };
  auto transaction = create_transaction(store_.read(), api::kind_of<Pod>(), std::move(pod),
                                        checks::done_before, wall_now(), random());
  if (!transaction) {
    // A namespace on its way out refuses every pod: that is no failure of the controller.
    const auto& causes = transaction.error().causes;
    if (!causes.empty() && causes.front().reason == "NamespaceTerminating") {
      starter_.fail();
      return;
    }
    return give_up(std::move(transaction.error().message));
  }
  const auto pod_key = transaction->mutations.front().key;
  expectations_.expect_creation(pod_key, now());
  send_transaction(
      std::move(*transaction), [this, pod_key, tries_left, give_up](const answer& answered) {
        if (!answered) {
          starter_.fail();
          return failed("FailedCreate", "the writer did not answer: " +
                                            std::string{runtime::to_string(answered.error())});
        }
        const auto& result = (*answered)->result;
        if (result) {
          ++created_;
          room_pause_ = {};
          return record(false, "SuccessfulCreate",
                        "Created pod: " + result->objects.front()->meta().name());
        }
        expectations_.creation_observed(pod_key);
        const auto& problem = result.error();
        if (problem.code == persistence::errc::conflict && tries_left > 1)
          return create_one(tries_left - 1);
        if (problem.code == persistence::errc::exceeded) return no_room(problem);
        give_up(problem.message);
      });
}

// Recorded once for a batch, without the generated name, so that the message is equal each time.
void replica_controller::no_room(const persistence::error& refusal) {
  starter_.fail();
  if (full_) return;
  room_pause_ =
      std::clamp<runtime::duration>(room_pause_ * 2, defaults::room_first, defaults::room_longest);
  auto message = to_api_error(refusal, api::kind_of<Pod>(), owner_->name() + "-").message;
  record(true, "FailedCreate", "Error creating: " + message);
  full_ = full_cluster{{"FailedCreate", std::move(message)}, now() + room_pause_};
}

void replica_controller::delete_pods(std::size_t count) {
  const auto active = tally_.active();
  const auto neighbours = count < active.size() ? count_neighbours(store_.read(), *owner_, active)
                                                : std::vector<std::int32_t>(active.size());
  for (const auto* victim : choose_victims(active, neighbours, count, wall_seconds()))
    delete_one(victim->pod);
}

void replica_controller::delete_one(const api::object_ptr& pod) {
  const auto key = api::key_of(*pod);
  expectations_.expect_deletion(key, now());
  ++under_way_;
  request<command_done>(
      core_.writer, evict{.pod_key = key, .pod_uid = pod->meta().uid(), .cause = change_cause()},
      defaults::write_timeout, [this, key, name = pod->meta().name()](const auto& answered) {
        if (answered && ((*answered)->result || (*answered)->result.error().code == 404)) {
          ++deleted_;
          record(false, "SuccessfulDelete", "Deleted pod: " + name);
        } else {
          const std::string message =
              answered ? (*answered)->result.error().message : runtime::to_string(answered.error());
          if (answered) {
            expectations_.deletion_observed(key);
          } else {
            stale_ = true;
          }
          record(true, "FailedDelete", "Error deleting: " + message);
          failed("FailedDelete", message);
        }
        --under_way_;
        settle();
      });
}

std::vector<std::int32_t> count_neighbours(const persistence::snapshot& state,
                                           const replica_owner& owner,
                                           const std::vector<const pod_record*>& pods) {
  // Related are the controllers with the same controller as ours (the ReplicaSets of a Deployment);
  // a controller on its own is related to itself only.
  std::unordered_map<std::string_view, std::int32_t> by_node;
  const auto parent = controller_uid(*owner.object());
  if (parent.empty()) {
    for (const auto* pod : pods)
      ++by_node[pod->node()];
  } else {
    std::unordered_set<std::string_view> related;
    const auto& kind = owner.object()->kind();
    state.scan(kind.prefix(owner.ns()), {}, [&](std::string_view, const api::object_ptr& o) {
      if (controller_uid(*o) == parent) related.insert(o->meta().uid());
      return true;
    });
    state.scan(api::kind_of<Pod>().prefix(owner.ns()), {},
               [&](std::string_view, const api::object_ptr& o) {
                 if (related.contains(controller_uid(*o)) && read_pod(o).active())
                   ++by_node[o->as<Pod>().spec().node_name()];
                 return true;
               });
  }
  std::vector<std::int32_t> result;
  result.reserve(pods.size());
  for (const auto* pod : pods)
    result.push_back(by_node[pod->node()]);
  return result;
}

// -- status ---------------------------------------------------------------------------------------

void replica_controller::report_status() {
  next_ = &replica_controller::end_sync;
  write_status(1 + defaults::status_retries);
  settle();
}

void replica_controller::write_status(int tries_left) {
  const auto now_s = reported_for_ = wall_seconds();
  const auto fresh = store_.read().find(key_);
  if (!fresh || fresh->meta().uid() != owner_->uid()) return;
  const replica_owner current{fresh};
  const auto before = current.status();
  const auto failure = full_ && !failure_ ? std::optional{full_->failure} : failure_;
  const auto status =
      calculate_status(before, tally_.counts(now_s), owner_->generation(), failure, now_s);
  if (status == before) return;
  persistence::transaction transaction;
  transaction.preconditions = {{key_, fresh->revision()}};
  transaction.mutations.push_back({key_, &fresh->kind(), current.with_status(status)});
  send_transaction(std::move(transaction), [this, tries_left](const answer& answered) {
    if (answered && (*answered)->result) {
      // Applied at once: the change that is on its way here is known then.
      const auto& written = (*answered)->result->objects.front();
      if (written->meta().generation() == owner_->generation()) take_owner(written);
      return;
    }
    const bool conflict =
        answered && (*answered)->result.error().code == persistence::errc::conflict;
    if (conflict && tries_left > 1) return write_status(tries_left - 1);
    retry_ = true;
  });
}

}  // namespace troupe::actors::replication
