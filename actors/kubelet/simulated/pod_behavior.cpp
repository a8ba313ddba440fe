#include "actors/kubelet/simulated/pod_behavior.hpp"

#include <algorithm>
#include <string_view>

#include "actors/core/condition.hpp"
#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::ContainerStatus;
using api::core::v1::Pod;
using std::chrono::seconds;

constexpr int most_doublings = 16;  // of a back-off: far beyond its maximum

runtime::duration spread(const Pod& pod, std::string_view purpose, const simulated::delay& delay) {
  const auto& all = pod.status().container_statuses();
  const auto run = all.empty() ? 0 : all[0].restart_count();
  return simulated::longer(delay, simulated::share_of(pod.metadata(), purpose, run));
}

runtime::wall_time at(std::int64_t second) {
  return runtime::wall_time{seconds{second}};
}

std::int64_t bound_at(const Pod& pod) {
  const auto* scheduled = find_condition(pod.status().conditions(), "PodScheduled");
  return scheduled != nullptr && scheduled->has_last_transition_time()
             ? scheduled->last_transition_time().seconds()
             : pod.metadata().creation_timestamp().seconds();
}

// kubernetes: the first restart is immediate, then after 10 s, doubling.
runtime::duration restart_delay(std::int32_t restarts) {
  if (restarts <= 0) return runtime::duration{0};
  const auto doubled =
      kubelet_defaults::restart_first * (1 << std::min(restarts - 1, most_doublings));
  return std::min<runtime::duration>(doubled, kubelet_defaults::restart_longest);
}

std::int32_t exit_code_of(const Pod& pod, const pod_behavior& behavior) {
  const auto runs = pod.status().container_statuses(0).restart_count();
  return behavior.failures && runs >= *behavior.failures ? 0 : behavior.exit_code;
}

bool runs_again(const Pod& pod, std::int32_t exit_code) {
  const auto& policy = pod.spec().restart_policy();
  return policy == "Always" || policy.empty() || (policy == "OnFailure" && exit_code != 0);
}

void set_ready(Pod& pod, bool ready, std::string_view reason, runtime::wall_time now) {
  auto& status = *pod.mutable_status();
  for (const char* type : {"Ready", "ContainersReady"})
    set_condition(*status.mutable_conditions(),
                  {type, ready ? "True" : "False", ready ? std::string_view{} : reason}, now);
  for (auto& container : *status.mutable_container_statuses())
    container.set_ready(ready);
}

void exit(Pod& pod, const pod_behavior& behavior, runtime::wall_time now) {
  const auto code = exit_code_of(pod, behavior);
  const bool again = runs_again(pod, code);
  auto& status = *pod.mutable_status();
  for (auto& container : *status.mutable_container_statuses()) {
    const auto started_at = container.state().running().started_at();
    container.clear_state();
    container.set_started(false);
    auto& ended = again ? *container.mutable_last_state()->mutable_terminated()
                        : *container.mutable_state()->mutable_terminated();
    ended.Clear();
    ended.set_exit_code(code);
    ended.set_reason(code == 0 ? "Completed" : "Error");
    if (!behavior.termination_message.empty()) ended.set_message(behavior.termination_message);
    *ended.mutable_started_at() = started_at;
    ended.mutable_finished_at()->set_seconds(seconds_of(now));
    ended.set_container_id(container.container_id());
    if (again) container.mutable_state()->mutable_waiting()->set_reason("CrashLoopBackOff");
  }
  if (!again) status.set_phase(code == 0 ? "Succeeded" : "Failed");
  set_ready(pod, false,
            again       ? "ContainersNotReady"
            : code == 0 ? "PodCompleted"
                        : "PodFailed",
            now);
}

void restart(Pod& pod, const pod_behavior& behavior, runtime::wall_time now) {
  for (auto& container : *pod.mutable_status()->mutable_container_statuses()) {
    container.clear_state();
    container.set_started(true);
    container.set_restart_count(container.restart_count() + 1);
    container.mutable_state()->mutable_running()->mutable_started_at()->set_seconds(
        seconds_of(now));
  }
  if (behavior.ready_delay.time.count() == 0) set_ready(pod, true, {}, now);
}

}  // namespace

std::optional<pod_behavior> behavior_of(const Pod& pod, const simulated::policy* policy) {
  const simulated::settings said{simulated::subject::pod, pod.metadata(), policy};
  if (!said.any()) return std::nullopt;
  pod_behavior result;
  result.start_delay = said.time("start-delay").value_or(simulated::delay{});
  result.ready_delay = said.time("ready-delay").value_or(simulated::delay{});
  result.run_time = said.time("run-time");
  result.exit_code = said.number("exit-code").value_or(0);
  result.failures = said.number("failures");
  result.termination_message = said.text("termination-message").value_or("");
  return result;
}

std::optional<pod_step> next_step(const Pod& pod, const pod_behavior& behavior) {
  using step = enum pod_step::change;
  const auto& status = pod.status();
  if (status.phase().empty() || status.phase() == "Pending")
    return pod_step{at(bound_at(pod)) + spread(pod, "start", behavior.start_delay), step::start};
  if (status.phase() != "Running" || status.container_statuses().empty()) return std::nullopt;
  const auto& container = status.container_statuses(0);
  if (!container.state().has_running()) {
    const auto ended = container.last_state().terminated().finished_at().seconds();
    return pod_step{at(ended) + restart_delay(container.restart_count()), step::restart};
  }
  const auto started = at(container.state().running().started_at().seconds());
  std::optional<pod_step> next;
  if (!container.ready())
    next = {started + spread(pod, "ready", behavior.ready_delay), step::become_ready};
  if (behavior.run_time) {
    const auto end = started + spread(pod, "run", *behavior.run_time);
    if (!next || end <= next->at) next = {end, step::exit};
  }
  return next;
}

bool is_starting(const Pod& pod) {
  const auto& all = pod.status().container_statuses();
  return std::any_of(all.begin(), all.end(), [](const auto& each) { return !each.ready(); });
}

std::unique_ptr<Pod> after_step(const Pod& pod, const pod_behavior& behavior,
                                enum pod_step::change change, const simulated_addresses& addresses,
                                runtime::wall_time now) {
  using step = enum pod_step::change;
  if (change == step::start) {
    auto started = as_running(pod, addresses, now);
    if (behavior.ready_delay.time.count() > 0)
      set_ready(*started, false, "ContainersNotReady", now);
    return started;
  }
  auto result = std::make_unique<Pod>(pod);
  if (change == step::become_ready) set_ready(*result, true, {}, now);
  if (change == step::exit) exit(*result, behavior, now);
  if (change == step::restart) restart(*result, behavior, now);
  return result;
}

}  // namespace troupe::actors
