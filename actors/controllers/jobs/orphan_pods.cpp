#include "actors/controllers/jobs/orphan_pods.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/controllers/jobs/defaults.hpp"
#include "actors/controllers/jobs/job_pod.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/write/commands.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::jobs {

using api::batch::v1::Job;
using api::core::v1::Pod;

namespace {

// False if the Job that controls the pod does not exist, or nothing controls it. Another kind of
// object may count its pods by the same finalizer.
bool has_controller(const api::object& pod, const persistence::snapshot& state) {
  const auto* owner = controller_of(pod);
  if (owner == nullptr) return false;
  if (owner->kind() != "Job" || owner->api_version() != "batch/v1") return true;
  return stored_controller(state, pod) != nullptr;
}

}  // namespace

orphan_pods::orphan_pods(const persistence::store* store, core_actors core)
    : informer{core.watcher}, store_{store}, core_{std::move(core)} {}

const runtime::behavior& orphan_pods::make_behavior() const {
  static const auto table =
      runtime::handlers(&orphan_pods::on_watch_events, &orphan_pods::on_watch_ended);
  return table;
}

void orphan_pods::started() {
  follow(api::kind_of<Job>().prefix(), [this](const watch_events& m) { on_jobs(m); });
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.accept = has_tracking_finalizer});
  again_ = every(defaults::orphan_check, [this] { sync_all_orphans(); });
}

std::string orphan_pods::describe() const {
  return fmt::format("pods: {}\norphans: {}\nreleased: {}\n", job_of_.size(), orphans_.size(),
                     released_);
}

void orphan_pods::on_jobs(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type != event_type::deleted) continue;
    current_cause({event.cause.request, event.at});
    const auto found = pods_.find(event.object->meta().uid());
    if (found == pods_.end()) continue;
    orphans_.insert(found->second.begin(), found->second.end());
  }
  continue_work();
}

// For the stream a pod that has lost the finalizer is deleted.
void orphan_pods::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    if (const auto known = job_of_.find(key); known != job_of_.end()) {
      const auto of = pods_.find(known->second);
      of->second.erase(key);
      if (of->second.empty()) pods_.erase(of);
      job_of_.erase(known);
    }
    orphans_.erase(key);
    if (event.type == event_type::deleted) continue;
    std::string uid{controller_uid(*event.object)};
    pods_[uid].insert(key);
    job_of_.emplace(key, std::move(uid));
    sync_orphan(key);
  }
  continue_work();
}

void orphan_pods::sync_orphan(const std::string& pod_key) {
  const auto state = store_->read();
  const auto pod = state.find(pod_key);
  if (pod && has_tracking_finalizer(*pod) && !has_controller(*pod, state)) orphans_.insert(pod_key);
}

void orphan_pods::sync_all_orphans() {
  for (const auto& [key, uid] : job_of_)
    sync_orphan(key);
  continue_work();
}

void orphan_pods::continue_work() {
  while (!orphans_.empty() && under_way_ < defaults::releases_under_way) {
    const auto key = *orphans_.begin();
    orphans_.erase(orphans_.begin());
    const auto state = store_->read();
    const auto pod = state.find(key);
    if (pod && has_tracking_finalizer(*pod) && !has_controller(*pod, state)) release(pod);
  }
}

void orphan_pods::release(const api::object_ptr& pod) {
  auto transaction = std::make_shared<persistence::transaction>(
      succeed(*pod, without_finalizer(*pod, tracking_finalizer)));
  transaction->cause = {.request = current_cause().request,
                        .trigger = pod->revision(),
                        .author = "job-controller/orphan-pods"};
  ++under_way_;
  request<commit_done>(core_.writer, commit{std::move(transaction)},
                       actors::defaults::write_timeout, [this](const auto& answered) {
                         --under_way_;
                         released_ += answered && (*answered)->result ? 1 : 0;
                         continue_work();
                       });
}

}  // namespace troupe::actors::jobs
