#include "actors/kubelet/simulated/simulated_pod.hpp"

#include "actors/core/condition.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Container;
using api::core::v1::ContainerStatus;
using api::core::v1::Pod;

constexpr std::int32_t exit_code_of_kill = 137;  // 128 + SIGKILL

ContainerStatus& begin_status(const Container& container, const std::string& pod_uid,
                              google::protobuf::RepeatedPtrField<ContainerStatus>& all) {
  auto& status = *all.Add();
  status.set_name(container.name());
  status.set_image(container.image());
  status.set_image_id("simulated://" + container.image());
  status.set_container_id("simulated://" + pod_uid + "/" + container.name());
  status.set_ready(true);
  status.set_restart_count(0);
  return status;
}

}  // namespace

std::unique_ptr<Pod> as_running(const Pod& pod, const simulated_addresses& addresses,
                                runtime::wall_time now) {
  auto result = std::make_unique<Pod>(pod);
  const auto& uid = pod.metadata().uid();
  const auto at = seconds_of(now);
  auto& status = *result->mutable_status();
  status.set_phase("Running");
  status.set_host_ip(addresses.host_ip);
  status.add_host_ips()->set_ip(addresses.host_ip);
  status.set_pod_ip(addresses.pod_ip);
  status.add_pod_ips()->set_ip(addresses.pod_ip);
  status.mutable_start_time()->set_seconds(at);
  for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"})
    set_condition(*status.mutable_conditions(), {.type = type, .status = "True"}, now);
  const auto run = [&](const Container& container, auto& statuses) {
    auto& running = begin_status(container, uid, statuses);
    running.set_started(true);
    running.mutable_state()->mutable_running()->mutable_started_at()->set_seconds(at);
  };
  for (const auto& container : pod.spec().init_containers()) {
    if (container.restart_policy() == "Always") {
      run(container, *status.mutable_init_container_statuses());
      continue;
    }
    auto& ended = *begin_status(container, uid, *status.mutable_init_container_statuses())
                       .mutable_state()
                       ->mutable_terminated();
    ended.set_exit_code(0);
    ended.set_reason("Completed");
    ended.mutable_started_at()->set_seconds(at);
    ended.mutable_finished_at()->set_seconds(at);
  }
  for (const auto& container : pod.spec().containers())
    run(container, *status.mutable_container_statuses());
  return result;
}

std::unique_ptr<Pod> as_overdue(const Pod& pod, runtime::wall_time now) {
  auto result = as_killed(pod, now);
  auto failure = deadline_failure();
  result->mutable_status()->set_reason(std::move(failure.reason));
  result->mutable_status()->set_message(std::move(failure.message));
  return result;
}

std::unique_ptr<Pod> as_killed(const Pod& pod, runtime::wall_time now) {
  auto result = std::make_unique<Pod>(pod);
  auto& status = *result->mutable_status();
  status.set_phase("Failed");
  for (const char* type : {"Ready", "ContainersReady"})
    set_condition(*status.mutable_conditions(), {type, "False", "PodFailed"}, now);
  for (auto& container : *status.mutable_container_statuses()) {
    const auto started_at = container.state().running().started_at();
    container.set_ready(false);
    container.set_started(false);
    container.clear_state();
    auto& ended = *container.mutable_state()->mutable_terminated();
    ended.set_exit_code(exit_code_of_kill);
    ended.set_reason("Error");
    *ended.mutable_started_at() = started_at;
    ended.mutable_finished_at()->set_seconds(seconds_of(now));
    ended.set_container_id(container.container_id());
  }
  return result;
}

}  // namespace troupe::actors
