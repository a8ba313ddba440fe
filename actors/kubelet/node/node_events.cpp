#include "actors/kubelet/node/node_events.hpp"

#include <fmt/format.h>

#include "actors/core/condition.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Node;

namespace {

struct condition_reasons {
  const char *type, *when_true, *when_false;
};

constexpr condition_reasons all_reasons[] = {
    {"MemoryPressure", "NodeHasInsufficientMemory", "NodeHasSufficientMemory"},
    {"DiskPressure", "NodeHasDiskPressure", "NodeHasNoDiskPressure"},
    {"PIDPressure", "NodeHasInsufficientPID", "NodeHasSufficientPID"},
    {"Ready", "NodeReady", "NodeNotReady"}};

std::string status_of(const Node& node, const char* type) {
  const auto* found = find_condition(node.status().conditions(), type);
  return found == nullptr ? std::string{} : found->status();
}

}  // namespace

std::vector<node_event> events_of_change(const Node& before, const Node& now) {
  std::vector<node_event> out;
  const auto& name = now.metadata().name();
  const auto add_status = [&](const char* reason) {
    out.push_back({false, reason, fmt::format("Node {} status is now: {}", name, reason)});
  };
  const auto& boot = now.status().node_info().boot_id();
  if (const auto& former = before.status().node_info().boot_id(); !former.empty() && former != boot)
    out.push_back(
        {true, "Rebooted", fmt::format("Node {} has been rebooted, boot id: {}", name, boot)});
  for (const auto& each : all_reasons) {
    const auto status = status_of(now, each.type);
    if (status == status_of(before, each.type)) continue;
    if (status == "True") add_status(each.when_true);
    if (status == "False") add_status(each.when_false);
  }
  if (before.spec().unschedulable() != now.spec().unschedulable())
    add_status(now.spec().unschedulable() ? "NodeNotSchedulable" : "NodeSchedulable");
  return out;
}

std::vector<node_event> events_of_start(const Node& now) {
  auto out = events_of_change({}, now);
  std::erase_if(out, [](const node_event& each) {
    return each.reason == "NodeReady" || each.reason == "NodeNotReady";
  });
  return out;
}

}  // namespace troupe::actors
