// The sync of a controller, step by step: replicas, status.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "actors/controllers/kit/pod_template.hpp"
#include "actors/controllers/replication/defaults.hpp"
#include "actors/controllers/replication/ranking.hpp"
#include "actors/controllers/replication/replica_controller.hpp"
#include "actors/core/store_error.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

using api::core::v1::Pod;

// -- replicas -------------------------------------------------------------------------------------

// The stored owner may already be deleted or replaced: the garbage collector would delete pods that
// are created for it now.
void replica_controller::sync() {
  failure_.reset();
  then(&replica_controller::report_status);
  if (!owner_in_store() || expectations_.expired(now())) return resync();
  // Pods whose claim failed are not counted, and must not be created again.
  if (failed() || set_->deleting() || !expectations_.satisfied(now())) return;
  const auto counts = tally_.counts(wall_seconds());
  const auto active = static_cast<std::size_t>(counts.active);
  const auto todo = make_plan(set_->replicas(), active, defaults::burst_replicas);
  if (todo.create > 0) return create_pods(todo.create, static_cast<std::size_t>(counts.waiting));
  full_.reset();
  paused_.reset();
  if (todo.remove > 0) delete_pods(todo.remove);
}

void replica_controller::after_sync() {
  if (full_ && !failed()) enqueue_in(full_->until - now());
  if (!expectations_.satisfied(now())) enqueue_in(expectations_.expires_at() - now());
  // Counts from the time of the status calculation: the status write may have taken longer than the
  // remaining time.
  if (const auto next = tally_.next_available_in(reported_for_))
    enqueue_in_seconds(reported_for_ + *next - wall_seconds());
}

void replica_controller::failed_to(std::string reason, std::string message) {
  retry();
  if (!failure_) failure_ = replica_failure{std::move(reason), std::move(message)};
}

void replica_controller::create_pods(std::size_t count, std::size_t waiting) {
  if (full_ && now() < full_->until) return;
  full_.reset();
  if (limit_waiting(count, waiting, defaults::waiting_pods) > 0) {
    paused_.reset();
    log_scale("up", count);
    starter_ = slow_start{count};
    return create_batch();
  }
  if (!paused_)
    paused_ = replica_failure{
        std::string{waiting_for_nodes},
        fmt::format("{} pods wait for a node: more are created when some of them have one",
                    waiting)};
  if (std::exchange(pause_logged_for_, set_->generation()) == set_->generation()) return;
  // The event may be dropped by the rate limit of the object, which the events of its pods have
  // used up; the condition is not.
  log_decision(paused_->message);
  record(false, paused_->reason, paused_->message);
}

void replica_controller::create_batch() {
  const auto batch = starter_.next();
  if (batch == 0) return then(&replica_controller::report_status);
  then(&replica_controller::create_batch);
  for (std::size_t i = 0; i < batch; ++i)
    create_one(defaults::name_tries);
}

void replica_controller::create_one(int tries_left) {
  auto pod = pod_from_template(set_->object()->meta(), set_->pod_template());
  add_controller_reference(*set_->object(), *pod->mutable_metadata());
  const auto give_up = [this](std::string message) {
    starter_.fail();
    record(true, "FailedCreate", "Error creating: " + message);
    failed_to("FailedCreate", std::move(message));
  };
  auto transaction = create_transaction(read_store(), api::kind_of<Pod>(), std::move(pod),
                                        checks::done_before, wall_now(), random());
  if (!transaction) {
    // A terminating namespace rejects every pod: that is not a failure of the controller.
    const auto& causes = transaction.error().causes;
    if (!causes.empty() && causes.front().reason == "NamespaceTerminating") {
      starter_.fail();
      return;
    }
    return give_up(std::move(transaction.error().message));
  }
  const auto pod_key = transaction->mutations.front().key;
  expectations_.expect_creation(pod_key, now());
  send_transaction(std::move(*transaction), [this, pod_key, tries_left,
                                             give_up](const answer<commit_done>& answered) {
    if (!answered) {
      starter_.fail();
      return failed_to("FailedCreate", "the writer did not answer: " +
                                           std::string{runtime::to_string(answered.error())});
    }
    const auto& result = (*answered)->result;
    if (result) {
      ++created_;
      room_pause_ = {};
      log_step("creates", pod_key, result->at);
      return record(false, "SuccessfulCreate",
                    "Created pod: " + result->objects.front()->meta().name());
    }
    expectations_.creation_observed(pod_key);
    const auto& problem = result.error();
    log_failure("creates", pod_key, problem.message);
    if (problem.code == persistence::errc::conflict && tries_left > 1)
      return create_one(tries_left - 1);
    if (problem.code == persistence::errc::exceeded) return no_room(problem);
    give_up(problem.message);
  });
}

// Recorded once for a batch, without the generated name, so that the message is always the same.
void replica_controller::no_room(const persistence::error& refusal) {
  starter_.fail();
  if (full_) return;
  room_pause_ =
      std::clamp<runtime::duration>(room_pause_ * 2, defaults::room_first, defaults::room_longest);
  auto message = to_api_error(refusal, api::kind_of<Pod>(), set_->name() + "-").message;
  record(true, "FailedCreate", "Error creating: " + message);
  full_ = full_cluster{{"FailedCreate", std::move(message)}, now() + room_pause_};
}

// Logs a scaling decision that may take several syncs.
void replica_controller::log_scale(std::string_view direction, std::size_t steps) const {
  log_decision(fmt::format("scales {} from {} to {} pods, {} of them now", direction,
                           tally_.counts(wall_seconds()).active, set_->replicas(), steps));
}

void replica_controller::delete_pods(std::size_t count) {
  log_scale("down", count);
  const auto active = tally_.active();
  const auto neighbours = count < active.size() ? count_neighbours(read_store(), *set_, active)
                                                : std::vector<std::int32_t>(active.size());
  for (const auto* victim : choose_victims(active, neighbours, count, wall_seconds()))
    delete_one(victim->pod);
}

void replica_controller::delete_one(const api::object_ptr& pod) {
  const auto pod_key = api::key_of(*pod);
  expectations_.expect_deletion(pod_key, now());
  ask_writer<command_done>(
      evict{.pod_key = pod_key, .pod_uid = pod->meta().uid(), .cause = change_cause()},
      [this, pod_key, name = pod->meta().name(), at = pod->revision()](const auto& answered) {
        if (answered && ((*answered)->result || (*answered)->result.error().code == 404)) {
          ++deleted_;
          log_step("removes", pod_key, at);
          return record(false, "SuccessfulDelete", "Deleted pod: " + name);
        }
        const std::string message =
            answered ? (*answered)->result.error().message : runtime::to_string(answered.error());
        log_failure("removes", pod_key, message);
        if (answered) expectations_.deletion_observed(pod_key);
        record(true, "FailedDelete", "Error deleting: " + message);
        failed_to("FailedDelete", message);
      });
}

std::vector<std::int32_t> count_neighbours(const persistence::snapshot& state,
                                           const replica_owner& owner,
                                           const std::vector<const pod_record*>& pods) {
  // Related controllers have the same controller as this one (the ReplicaSets of a Deployment); one
  // without a controller is related only to itself.
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
  write_status(1 + defaults::status_retries);
}

void replica_controller::write_status(int tries_left) {
  const auto now_s = reported_for_ = wall_seconds();
  const auto fresh = owner_in_store();
  if (!fresh) return;
  const replica_owner current{fresh};
  const auto before = current.status();
  const auto failure = failure_ ? failure_ : full_ ? std::optional{full_->failure} : paused_;
  const auto status =
      calculate_status(before, tally_.counts(now_s), set_->generation(), failure, now_s);
  if (status == before) return;
  auto transaction = succeed(*fresh, current.with_status(status));
  send_transaction(std::move(transaction), [this, tries_left](const answer<commit_done>& answered) {
    // Applied at once, ahead of the pending event.
    if (answered && (*answered)->result) {
      log_step("changes", key(), (*answered)->result->at);
      return refresh(key());
    }
    const bool conflict =
        answered && (*answered)->result.error().code == persistence::errc::conflict;
    if (conflict && tries_left > 1) return write_status(tries_left - 1);
    retry();
  });
}

}  // namespace troupe::actors::replication
