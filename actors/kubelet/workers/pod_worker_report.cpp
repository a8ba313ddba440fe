// The part of a pod's worker that writes to the store: status, removal and events of the pod.
#include <fmt/format.h>

#include <algorithm>

#include "actors/core/condition.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"
#include "api/equality.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Pod;
using api::core::v1::PodStatus;

namespace {

bool becomes_ready(const PodStatus& from, const PodStatus& to) {
  const auto* before = find_condition(from.conditions(), "Ready");
  const auto* after = find_condition(to.conditions(), "Ready");
  return before != nullptr && before->status() != "True" && after != nullptr &&
         after->status() == "True";
}

}  // namespace

PodStatus pod_worker::status_now() const {
  const bool ending = terminating() || failure_;
  const auto* failure = failure_ && all_ended() ? &*failure_ : nullptr;
  auto status = observed_status(pod(), containers_, addresses_, wall_now(), ending, failure);
  if (allocation_)
    describe_resize({*allocation_, resize_due(), resize_problem_}, containers_, wall_now(), status);
  return status;
}

bool pod_worker::status_is_newest() const {
  return api::same_meaning(status_now(), pod().status());
}

void pod_worker::count_running() {
  const auto running = std::count_if(containers_.begin(), containers_.end(), [](const auto& each) {
    return each.phase == container_phase::running;
  });
  running_containers_.set(running);
  running_pods_.set(running > 0 ? 1 : 0);
}

// One write at a time; its answer starts the next one if the status has changed meanwhile.
void pod_worker::report() {
  if (reporting_ || gone_ || !object_) return;
  // The state of containers that this worker has adopted is unknown until the runtime answers: do
  // not report a wrong one.
  if (std::any_of(containers_.begin(), containers_.end(),
                  [](const auto& c) { return c.adopted && c.phase == container_phase::starting; }))
    return;
  auto status = status_now();
  if (api::same_meaning(status, pod().status())) return;
  // While the node was silent the control plane marked its pods not ready. It would undo a report
  // that says otherwise until it considers the node ready again.
  if (!context_->helpers.node_ready->load() && becomes_ready(pod().status(), status)) {
    retry_ = after(kubelet_defaults::status_retry, [this] { sync(); });
    return;
  }
  reporting_ = true;
  const bool starts = pod().status().phase() == "Pending" && status.phase() == "Running";
  auto changed = object_->copy_as<Pod>();
  *changed->mutable_status() = std::move(status);
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({key_, object_->revision()});
  transaction->mutations.push_back({key_, &object_->kind(), std::move(changed)});
  transaction->cause = cause_of_write();
  request<commit_done>(context_->to.writer, commit{std::move(transaction)},
                       kubelet_defaults::write_timeout, [this, starts](const auto& answered) {
                         reporting_ = false;
                         if (answered && (*answered)->result) {
                           if (starts) metrics_of_kubelet().pod_starts.add(now() - begun_at_);
                           const auto& written = (*answered)->result->objects.front();
                           if (written->revision() > object_->revision()) take_object(written);
                           return sync();
                         }
                         // A newer state is about to arrive, or the writer is busy.
                         retry_ = after(kubelet_defaults::status_retry, [this] { sync(); });
                       });
}

// Like a DELETE without grace: an object with finalizers stays until they are removed. The removal
// arrives as an event of the pod.
void pod_worker::remove_pod() {
  if (std::exchange(removing_, true)) return;
  remove command{.key = key_, .uid = uid_, .grace_seconds = 0, .cause = cause_of_write()};
  request<command_done>(context_->to.writer, std::move(command), kubelet_defaults::write_timeout,
                        [this](const auto& answered) {
                          if (answered && (*answered)->result) return;
                          removing_ = false;
                          retry_ = after(kubelet_defaults::status_retry, [this] { sync(); });
                        });
}

void pod_worker::record_pod_event(bool warning, std::string reason, std::string message,
                                  const std::string& container) {
  if (!object_) return;
  tell(context_->to.recorder,
       record_event{.about = object_,
                    .warning = warning,
                    .reason = std::move(reason),
                    .message = std::move(message),
                    .component = "kubelet",
                    .field_path = container.empty() ? std::string{} : field_path(pod(), container),
                    .host = context_->node});
}

persistence::change_cause pod_worker::cause_of_write() const {
  return {
      .request = request_, .trigger = object_->revision(), .author = "kubelet/" + context_->node};
}

}  // namespace troupe::actors
