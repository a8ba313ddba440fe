#include "actors/kubelet/node/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/nodes/taints.hpp"

namespace troupe::actors {

using api::core::v1::Pod;
using api::core::v1::PodStatus;
using scheduler::node_info;
using scheduler::pod_info;

std::optional<pod_failure> missing_resource(const scheduler::resources& wants,
                                            const node_info& node) {
  std::optional<pod_failure> failure;
  const auto& has = node.allocatable();
  const auto& used = node.requested();
  const auto check = [&](const std::string& resource, std::int64_t asked, std::int64_t taken,
                         std::int64_t all) {
    if (failure || asked == 0 || asked <= all - taken) return;
    failure = {
        "OutOf" + resource,
        fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: "
                    "{}",
                    resource, asked, taken, all)};
  };
  check("pods", 1, used.pods, has.pods);
  check("cpu", wants.milli_cpu, used.milli_cpu, has.milli_cpu);
  check("memory", wants.memory, used.memory, has.memory);
  if (has.ephemeral != 0)
    check("ephemeral-storage", wants.ephemeral, used.ephemeral, has.ephemeral);
  for (const auto& [name, amount] : has.extended)
    check(name, wants.extended_amount(name), used.extended_amount(name), amount);
  return failure;
}

namespace {

bool repelled_by_taint(const pod_info& pod, const node_info& node) {
  const auto& taints = node.body().spec().taints();
  return std::any_of(taints.begin(), taints.end(), [&](const auto& taint) {
    return taint.effect() == "NoExecute" && !tolerates(pod.body().spec(), taint);
  });
}

pod_failure failed(const char* predicate, const char* message) {
  return {predicate, fmt::format("Predicate {} failed: {}", predicate, message)};
}

}  // namespace

bool admitted_before(const Pod& pod) {
  const auto& status = pod.status();
  return status.has_start_time() || status.container_statuses_size() != 0 || finished(status) ||
         pod.metadata().has_deletion_timestamp();
}

std::optional<pod_failure> rejection(const pod_info& pod, const node_info& node) {
  if (auto failure = missing_resource(pod.requests, node)) return failure;
  if (!pod.selects(node.name(), node.labels()))
    return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (!ports_are_free(pod, node))
    return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if (repelled_by_taint(pod, node))
    return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  return std::nullopt;
}

PodStatus rejected_status(const Pod& pod, const pod_failure& failure) {
  PodStatus status{pod.status()};
  status.set_phase("Failed");
  status.set_reason(failure.reason);
  status.set_message("Pod was rejected: " + failure.message);
  return status;
}

}  // namespace troupe::actors
