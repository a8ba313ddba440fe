#include "actors/kubelet/workers/pod_worker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/access/pod_references.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/container_order.hpp"
#include "actors/kubelet/pressure/storage_limits.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

template <class Map>
bool same_entries(const Map& a, const Map& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& entry) {
           const auto found = b.find(entry.first);
           return found != b.end() && found->second == entry.second;
         });
}

// Compares the mutable pod fields that downward API files may contain.
bool same_facts(const api::meta::v1::ObjectMeta& a, const api::meta::v1::ObjectMeta& b) {
  return same_entries(a.labels(), b.labels()) && same_entries(a.annotations(), b.annotations());
}

}  // namespace

pod_worker::pod_worker(std::string key, std::string uid,
                       std::shared_ptr<const kubelet_context> context)
    : key_{std::move(key)},
      uid_{std::move(uid)},
      context_{std::move(context)},
      addresses_{context_->addresses} {}

const runtime::behavior& pod_worker::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &pod_worker::on_owner_event, &pod_worker::on_surveyed, &pod_worker::on_reference_event,
      &pod_worker::on_container_event, &pod_worker::on_probe_event, &pod_worker::on_hook_event,
      &pod_worker::on_volumes_event, &pod_worker::on_storage_measured,
      &pod_worker::on_containers_removed, &pod_worker::on_torn_down, &pod_worker::on_sandbox_event,
      &pod_worker::on_guard_event, &pod_worker::on_image_event, &pod_worker::on_created_event,
      &pod_worker::on_evict_pod, &pod_worker::on_allocation_changed, &pod_worker::on_resized_event,
      &pod_worker::on_pulling_event, &pod_worker::on_kill_failed);
  return table;
}

void pod_worker::started() {
  // The objects that a crashed worker was told of are told again.
  tell(context_->references, need_references{});
  tell(context_->kubelet, worker_started{uid_});
  containers().list(uid_, [to = self()](found_pod found) { to.tell(surveyed{std::move(found)}); });
}

std::string pod_worker::describe() const {
  std::string text = fmt::format("pod: {}\nuid: {}\nterminating: {}\ncontainers:\n", key_, uid_,
                                 state_known_ && terminating());
  static constexpr const char* phases[] = {"waiting", "starting", "running", "exited"};
  for (const auto& c : containers_)
    text += fmt::format("- name: {}\n  phase: {}\n  restarts: {}\n", c.name,
                        phases[static_cast<int>(c.phase)], c.restarts());
  return text;
}

// -- messages -------------------------------------------------------------------------------------

void pod_worker::on_owner_event(const owner_event& m) {
  state_known_ = true;
  gone_ |= m.gone;
  const bool newer = m.object && (!object_ || m.object->revision() > object_->revision());
  if (newer && !(m.gone && object_)) {
    volumes_stale_ |= !object_ || !same_facts(object_->meta(), m.object->meta());
    take_object(m.object);
    request_ = current_cause().request;
  }
  sync();
}

void pod_worker::on_surveyed(const surveyed& m) {
  survey_ = m;
  sync();
}

void pod_worker::on_reference_event(const reference_event& m) {
  if (m.list) {
    services_ = m.list;
    return sync();
  }
  references_[m.key] = m.object;
  follow_volume_of(m.object);
  if (m.key == api_key(context_->api)) return sync();
  volumes_stale_ = true;
  volumes_retry_at_ = {};
  for (auto& record : containers_)
    if (record.waiting_reason == "CreateContainerConfigError") record.retry_at = now();
  sync();
}

void pod_worker::on_container_event(const container_event& m) {
  auto* record = find_record(m.container);
  if (record == nullptr || record->id != m.id) return;  // of a former container
  if (const auto* running = std::get_if<container_running>(&m.change)) {
    if (record->phase != container_phase::starting) return;
    record->phase = container_phase::running;
    record->run = *running;
    on_running(*record);
  } else {
    if (record->phase == container_phase::exited) return;
    on_exit(*record, std::get<container_exit>(m.change));
  }
  sync();
}

void pod_worker::on_evict_pod(const evict_pod& m) {
  if (!state_known_ || terminating() || failure_ || finished(pod().status())) return;
  fail_pod(m.failure);
}

// kubernetes: pod_workers.go, killPodNow.
void pod_worker::fail_pod(const pod_failure& failure) {
  failure_ = failure;
  record_pod_event(true, failure.reason, failure.message);
  const auto grace = failure.grace.value_or(own_grace());
  const auto limit = std::max<runtime::duration>(grace + grace / 2, context_->least_kill_limit);
  kill_limit_ = after(limit, [this] {
    if (!all_ended())
      record_pod_event(true, "ExceededGracePeriod",
                       "Container runtime did not kill the pod within specified grace period.");
  });
  sync();
}

// kubernetes: kubelet.go, SyncPod and SyncTerminatingPod. A container that cannot be stopped is
// tried again every second.
void pod_worker::on_kill_failed(const kill_failed& m) {
  const bool sandbox = m.container.empty();
  if (!sandbox) {
    auto* record = find_record(m.container);
    if (record == nullptr || record->id != m.id) return;  // of a former container
    record->stop.failed(now());
    arm_timer();
  }
  if (kill_failure_recorded_at_ != runtime::time_point{} &&
      now() < kill_failure_recorded_at_ + context_->event_repetition)
    return;
  kill_failure_recorded_at_ = now();
  record_pod_event(
      true, "FailedKillPod",
      fmt::format("error killing pod: failed to \"{}\" for \"{}\" with {}Error: \"{}\"",
                  sandbox ? "KillPodSandbox" : "KillContainer", sandbox ? uid_ : m.container,
                  sandbox ? "KillPodSandbox" : "KillContainer", m.problem));
}

void pod_worker::on_containers_removed(const containers_removed& m) {
  if (!tearing_down_ || torn_down_) return;  // requested before a restart of this worker
  if (!m.problem.empty()) on_kill_failed({{}, {}, m.problem});
  const bool taken = context_->helpers.jobs->post(uid_, [dir = pod_dir(), to = self()] {
    remove_pod_files(dir);
    to.tell(torn_down{});
  });
  if (taken) return;
  tearing_down_ = false;
  arm_timer();
}

void pod_worker::on_torn_down(const torn_down&) {
  torn_down_ = true;
  sync();
}

// -- one sync -------------------------------------------------------------------------------------

void pod_worker::sync() {
  if (!state_known_ || !survey_ || (object_ && !allocation_)) return;
  if (!std::exchange(begun_, true)) begin();
  count_running();
  if (terminating()) return end_pod();
  if (!failure_ && !finished(pod().status()) && deadline_exceeded(pod(), wall_now())) {
    failure_ = deadline_failure();
    record_pod_event(false, failure_->reason, failure_->message);
  }
  if (failure_) {
    end_containers(failure_->grace.value_or(own_grace()));
  } else {
    request_references();
    request_tokens();
    sync_volumes();
    add_ephemeral_containers();
    run_containers();
  }
  report();
  release_address();
  arm_timer();
}

// kubernetes: a pod that has finished keeps its containers and logs, but no sandbox
// (SyncTerminatingPod): finished Jobs would use up the addresses of the node.
void pod_worker::release_address() {
  if (sandboxes_stopped_ || !finished(pod().status()) || !all_ended()) return;
  sandboxes_stopped_ = true;
  containers().stop_sandboxes(uid_);
}

void pod_worker::begin() {
  begun_at_ = now();
  if (object_) {
    if (containers().features().own_network && !pod().spec().host_network())
      addresses_.pod_ips =
          finished(pod().status()) ? recorded_ips(pod()) : std::vector<std::string>{};
    containers_ = records_of(pod());
    for (auto& record : containers_)
      reset_health(record);
    need_references_of_pod();
    for (const auto& wanted : projected_tokens(pod()))
      tokens_[wanted];
    if (has_storage_limits(pod()))
      measure_ = every(context_->storage_measuring, [this] { measure_storage(); });
    if (survey_->found.containers.empty()) report_unsupported();
  }
  if (const auto& found = survey_->found.sandbox) {
    if (object_ && !was_in_progress(pod().status())) group_ = recorded_resources(pod());
    use_sandbox(*found);
    containers().follow_sandbox(found->id, observe_sandbox(found->id));
  }
  for (const auto& found : survey_->found.containers)
    adopt(found);
}

// Ephemeral containers are the only ones that are added to a running pod.
void pod_worker::add_ephemeral_containers() {
  if (static_cast<std::size_t>(pod().spec().ephemeral_containers_size()) <= ephemeral_known_)
    return;
  for (const auto& record : records_of(pod()))
    if (record.role == container_role::ephemeral && find_record(record.name) == nullptr)
      containers_.insert(containers_.begin(), record);
  need_references_of_pod();
}

// Ends the pod: first its containers, then their final status, then its files in the runtime and on
// the node, and the object itself last, because a pod with the same name must not start on this
// machine before.
void pod_worker::end_pod() {
  if (!all_ended()) {
    end_containers(deletion_grace());
    report();
    return arm_timer();
  }
  if (!gone_ && object_ && !status_is_newest()) {
    report();
    return arm_timer();
  }
  if (!torn_down_) {
    if (volumes_working_) return arm_timer();
    if (std::exchange(tearing_down_, true)) return;
    containers().remove_pod(uid_, [to = self()](std::string problem) {
      to.tell(containers_removed{std::move(problem)});
    });
    return;
  }
  if (gone_ || !object_) {
    tell(context_->references, need_references{});
    return stop();
  }
  remove_pod();
}

bool pod_worker::terminating() const {
  return gone_ || !object_ || object_->meta().has_deletion_timestamp();
}

bool pod_worker::starts_nothing() const {
  return terminating() || failure_ || is_outcome_decided(pod(), containers_);
}

bool pod_worker::all_ended() const {
  return std::none_of(containers_.begin(), containers_.end(), [](const auto& c) {
    return c.phase == container_phase::starting || c.phase == container_phase::running;
  });
}

void pod_worker::arm_timer() {
  auto soonest = now() + kubelet_defaults::pod_resync;
  const auto consider = [&](runtime::time_point at) {
    soonest = std::min<runtime::time_point>(soonest, std::max(at, now()));
  };
  for (const auto& record : containers_) {
    if (record.phase == container_phase::waiting && record.retry_at > now())
      consider(record.retry_at);
    if (record.phase == container_phase::running && record.stop.begun())
      consider(record.stop.next_check());
  }
  if (volumes_stale_ && volumes_retry_at_ > now()) consider(volumes_retry_at_);
  for (const auto& [wanted, held] : tokens_)
    if (!held.asked && held.ask_at > now()) consider(held.ask_at);
  if (sandbox_retry_at_ > now()) consider(sandbox_retry_at_);
  if (guard_ask_at_ > now()) consider(guard_ask_at_);
  if (resize_retry_at_ > now()) consider(resize_retry_at_);
  if (!terminating() && !failure_ && pod().spec().has_active_deadline_seconds() &&
      pod().status().has_start_time()) {
    const std::chrono::seconds end{pod().status().start_time().seconds() +
                                   pod().spec().active_deadline_seconds()};
    if (end > wall_now().time_since_epoch())
      consider(now() + (end - wall_now().time_since_epoch()));
  }
  next_ = after(soonest - now(), [this] { sync(); });
}

// -- the containers' records ----------------------------------------------------------------------

container_record* pod_worker::find_record(const std::string& container) {
  const auto found = std::find_if(containers_.begin(), containers_.end(),
                                  [&](const auto& c) { return c.name == container; });
  return found == containers_.end() ? nullptr : &*found;
}

std::shared_ptr<const api::core::v1::Container> pod_worker::spec_of(
    const container_record& record) const {
  if (!object_) return nullptr;
  auto found = container_named(allocated_->as<api::core::v1::Pod>(), record.name);
  if (record.role == container_role::ephemeral) return found;
  return {allocated_, found.get()};
}

container_observer pod_worker::observer(const container_record& record) {
  return [to = self(), container = record.name, id = record.id](const container_change& change) {
    to.tell(container_event{container, id, change});
  };
}

}  // namespace troupe::actors
