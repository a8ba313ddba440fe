#include "actors/kubelet/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/taints.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Pod;
using api::core::v1::PodStatus;
using scheduler::node_info;
using scheduler::pod_info;

std::optional<pod_verdict> no_room(const pod_info& pod, const node_info& node) {
  std::optional<pod_verdict> why;
  const auto& has = node.allocatable();
  const auto& used = node.requested();
  const auto check = [&](const std::string& what, std::int64_t asked, std::int64_t taken,
                         std::int64_t all) {
    if (why || asked == 0 || asked <= all - taken) return;
    why = {"OutOf" + what,
           fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: "
                       "{}",
                       what, asked, taken, all)};
  };
  const auto& wants = pod.requests;
  check("pods", 1, used.pods, has.pods);
  check("cpu", wants.milli_cpu, used.milli_cpu, has.milli_cpu);
  check("memory", wants.memory, used.memory, has.memory);
  if (has.ephemeral != 0)
    check("ephemeral-storage", wants.ephemeral, used.ephemeral, has.ephemeral);
  for (const auto& [name, amount] : has.extended)
    check(name, wants.extended_amount(name), used.extended_amount(name), amount);
  return why;
}

bool driven_out(const pod_info& pod, const node_info& node) {
  const auto& taints = node.body().spec().taints();
  return std::any_of(taints.begin(), taints.end(), [&](const auto& taint) {
    return taint.effect() == "NoExecute" && !tolerates(pod.body().spec(), taint);
  });
}

pod_verdict failed(const char* predicate, const char* why) {
  return {predicate, fmt::format("Predicate {} failed: {}", predicate, why)};
}

}  // namespace

bool admitted_before(const Pod& pod) {
  const auto& status = pod.status();
  return status.has_start_time() || status.container_statuses_size() != 0 || finished(status) ||
         pod.metadata().has_deletion_timestamp();
}

std::optional<pod_verdict> rejection(const pod_info& pod, const node_info& node) {
  if (auto why = no_room(pod, node)) return why;
  if (!pod.selects(node.name(), node.labels()))
    return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (!ports_are_free(pod, node))
    return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if (driven_out(pod, node))
    return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  return std::nullopt;
}

PodStatus rejected_status(const Pod& pod, const pod_verdict& why) {
  PodStatus status{pod.status()};
  status.set_phase("Failed");
  status.set_reason(why.reason);
  status.set_message("Pod was rejected: " + why.message);
  return status;
}

}  // namespace troupe::actors
