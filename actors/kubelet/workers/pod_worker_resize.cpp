// The part of a pod's worker that applies the allocated resources: containers that must restart end
// first, then the runtime resizes the running ones, then waiting ones may start (kubernetes:
// kuberuntime_manager.go, doPodResizeAction).
#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"

namespace troupe::actors {

void pod_worker::take_object(api::object_ptr object) {
  object_ = std::move(object);
  allocated_ = allocation_ ? with_resources(object_, allocation_->resources) : object_;
}

void pod_worker::on_allocation_changed(const allocation_changed& m) {
  const bool other = allocation_ && !same_amounts(allocation_->resources, m.allocation->resources);
  allocation_ = m.allocation;
  if (!object_) return;
  take_object(object_);
  if (other) {
    volumes_stale_ = true;  // downward API files may contain amounts
    resize_problem_.clear();
    resize_retry_at_ = {};
  }
  sync();
}

bool pod_worker::differs(const container_record& record) const {
  const auto found = allocation_->resources.find(record.name);
  return found != allocation_->resources.end() && record.runs() && record.resources &&
         !same_amounts(*record.resources, found->second);
}

// Whether the allocation is not completely applied.
bool pod_worker::resize_due() const {
  if (!allocation_ || !sandbox_ || !containers().resize_problem().empty()) return false;
  return !group_ || !same_amounts(*group_, allocation_->resources) ||
         std::any_of(containers_.begin(), containers_.end(),
                     [&](const auto& record) { return differs(record); });
}

// Whether containers must wait until the pod's group has grown: for one attempt only, so that an
// error never blocks their start.
bool pod_worker::group_due() const {
  return resizing_ || (resize_due() && resize_problem_.empty() &&
                       (!group_ || !same_amounts(*group_, allocation_->resources)));
}

void pod_worker::resize_containers() {
  if (resizing_ || resize_retry_at_ > now() || !resize_due() ||
      !is_recorded(*allocation_, pod().status()) || restart_for_resize())
    return;
  resize_request request{.pod = allocated_,
                         .before = group_ ? with_resources(object_, *group_) : nullptr};
  for (const auto& record : containers_)
    if (record.phase == container_phase::running && allocation_->resources.contains(record.name) &&
        (!group_ || differs(record)))
      request.containers.push_back({record.id, record.name});
  resizing_ = true;
  const auto done = [to = self(), allocation = allocation_,
                     containers = request.containers](const runtime_result<void>& result) {
    to.tell(resized_event{allocation, containers, result ? std::string{} : result.error().message});
  };
  containers().resize(std::move(request), done);
}

// Whether containers must end or start before the others can be resized.
bool pod_worker::restart_for_resize() {
  bool waits = false;
  for (auto& record : containers_) {
    if (!differs(record)) continue;
    if (record.phase == container_phase::starting) {
      waits = true;
    } else if (restarts_for(*spec_of(record), *record.resources,
                            allocation_->resources.at(record.name))) {
      waits = record.changed = true;
      fail_container(record, own_grace(),
                     fmt::format("Container {} resize requires restart", record.name));
    }
  }
  return waits;
}

void pod_worker::on_resized_event(const resized_event& m) {
  resizing_ = false;
  resize_problem_ = m.problem;
  if (m.problem.empty()) {
    group_ = m.to->resources;
    for (const auto& container : m.containers)
      if (auto* record = find_record(container.name); record && record->id == container.id)
        record->resources = m.to->resources.at(container.name);
  } else {
    resize_retry_at_ = now() + kubelet_defaults::restart_first;
  }
  sync();
}

}  // namespace troupe::actors
