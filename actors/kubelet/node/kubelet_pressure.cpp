// The part of the kubelet that handles resource shortages: node conditions and evictions.
#include "actors/core/condition.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Pod;

std::function<node_supplies()> kubelet::supplies_reader() const {
  return [root = options_.root_dir, containers = options_.containers] {
    return read_supplies(root, containers->image_directory());
  };
}

void kubelet::watch_pressure(const runtime::actor_ref& meter) {
  if (!options_.evictions) return;
  pressure_setup setup{.kubelet = self(),
                       .meter = meter,
                       .jobs = options_.jobs,
                       .containers = options_.containers,
                       .root_dir = options_.root_dir,
                       .thresholds = *options_.evictions,
                       .period = options_.pressure_period,
                       .read = options_.read_supplies,
                       .free_disk = [containers = options_.containers](node_disk of, auto done) {
                         containers->free_disk(of, std::move(done));
                       }};
  if (!setup.read) setup.read = supplies_reader();
  spawn({.kind = "pressure-monitor", .name = node()},
        runtime::make<pressure_monitor>(std::move(setup)));
}

void kubelet::on_pressures_seen(const pressures_seen& m) {
  if (std::exchange(pressures_, m.holding) == m.holding) return;
  refresh_node();
  admit_pods();
}

void kubelet::on_list_running_pods(const list_running_pods&,
                                   runtime::promise<running_pods> answer) {
  running_pods running;
  for (const auto& [uid, pod] : pods_)
    if (pod.worker && pod.object && !pod.gone && !pod.object->meta().has_deletion_timestamp() &&
        !finished(pod.object->as<Pod>().status()))
      running.pods.push_back(pod.object);
  answer.deliver(std::move(running));
}

void kubelet::on_evict_pod(const evict_pod& m) {
  const auto found = pods_.find(m.uid);
  if (found != pods_.end() && found->second.worker) tell(found->second.worker, m);
}

void kubelet::describe_pressure(api::core::v1::NodeStatus& status) const {
  struct words {
    shortage of;
    const char *holds, *holds_message, *not_so, *not_so_message;
  };
  for (const auto& each :
       {words{shortage::memory, "KubeletHasInsufficientMemory",
              "kubelet has insufficient memory available", "KubeletHasSufficientMemory",
              "kubelet has sufficient memory available"},
        words{shortage::disk, "KubeletHasDiskPressure", "kubelet has disk pressure",
              "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
        words{shortage::pids, "KubeletHasInsufficientPID", "kubelet has insufficient PID available",
              "KubeletHasSufficientPID", "kubelet has sufficient PID available"}}) {
    const bool holds = pressures_.contains(each.of);
    set_condition(
        *status.mutable_conditions(),
        {condition_of(each.of), holds ? "True" : "False", holds ? each.holds : each.not_so,
         holds ? each.holds_message : each.not_so_message},
        wall_now());
  }
}

}  // namespace troupe::actors
