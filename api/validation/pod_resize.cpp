// The changes allowed in a write of pods/resize: cpu and memory of existing containers, within the
// pod's QoS class.
//
// kubernetes: pkg/apis/core/validation, ValidatePodResize (1.33).
#include "api/equality.hpp"
#include "api/object/pod_resources.hpp"
#include "api/validation/checks.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;
using containers = google::protobuf::RepeatedPtrField<Container>;

// core/types.go, MirrorPodAnnotationKey.
constexpr const char* mirror_annotation = "kubernetes.io/config.mirror";

// A node that supports resizing reports the resources in force. Without a running container it is
// unknown, and the node is assumed to support it.
bool node_resizes(const Pod& pod) {
  for (const auto& status : pod.status().container_statuses())
    if (status.state().has_running()) return status.has_resources();
  return true;
}

bool same_order(field_errors& out, std::string_view field, const containers& now,
                const containers& was) {
  if (now.size() != was.size()) {
    out.forbidden(field, std::string{field} + " may not be added or removed on resize");
    return false;
  }
  bool same = true;
  for (int i = 0; i < now.size(); ++i) {
    if (now[i].name() == was[i].name()) continue;
    same = false;
    const auto step = out.at.item(field, i);
    out.forbidden("name", std::string{field} + " may not be renamed or reordered on resize");
  }
  return same;
}

bool removes(const quantity_map& now, const quantity_map& was) {
  for (const auto& [name, amount] : was)
    if (!now.contains(name)) return true;
  return false;
}

// The container may use more than the new limit: only a restart makes that safe.
void check_memory_limit(field_errors& out, const Container& now, const Container& was) {
  for (const auto& policy : was.resize_policy())
    if (policy.resource_name() == "memory" && policy.restart_policy() == "RestartContainer") return;
  const auto limit = now.resources().limits().find("memory");
  const auto before = was.resources().limits().find("memory");
  if (limit == now.resources().limits().end() || before == was.resources().limits().end()) return;
  const auto amount = quantity::parse(limit->second.string());
  const auto former = quantity::parse(before->second.string());
  if (!amount || !former || *amount >= *former) return;
  const auto step = out.at.field("limits");
  const auto inner = out.at.key("memory");
  out.forbidden({}, "memory limits cannot be decreased unless resizePolicy is RestartContainer");
}

bool same_but_cpu_and_memory(const ResourceRequirements& now, const ResourceRequirements& was) {
  auto a = now, b = was;
  for (auto* each : {&a, &b})
    for (const auto* name : {"cpu", "memory"}) {
      each->mutable_requests()->erase(name);
      each->mutable_limits()->erase(name);
    }
  return same_meaning(a, b);
}

// Returns whether anything other than cpu and memory changes.
bool check_containers_of(field_errors& out, std::string_view field, const containers& now,
                         const containers& was, bool init) {
  bool others_change = false;
  for (int i = 0; i < now.size(); ++i) {
    const auto step = out.at.item(field, i);
    const auto inner = out.at.field("resources");
    const auto &resources = now[i].resources(), &before = was[i].resources();
    if (init && was[i].restart_policy() != "Always") {
      if (!same_meaning(resources, before))
        out.forbidden({}, "resources for non-sidecar init containers are immutable");
      continue;
    }
    if (removes(resources.requests(), before.requests()))
      out.forbidden("requests", "resource requests cannot be removed");
    if (removes(resources.limits(), before.limits()))
      out.forbidden("limits", "resource limits cannot be removed");
    check_memory_limit(out, now[i], was[i]);
    others_change |= !same_but_cpu_and_memory(resources, before);
  }
  return others_change;
}

}  // namespace

void check_pod_resize(field_errors& out, const Pod& now, const Pod& was) {
  if (was.metadata().annotations().contains(mirror_annotation))
    return out.forbidden({}, "static pods cannot be resized");
  if (was.spec().os().name() == "windows")
    return out.forbidden({}, "windows pods cannot be resized");
  const auto step = out.at.field("spec");
  const auto& qos = was.status().qos_class();
  if ((qos.empty() ? qos_class(was.spec()) : qos) != qos_class(now.spec()))
    out.invalid({}, qos, "Pod QOS Class may not change as a result of resizing");
  if (!node_resizes(was)) out.forbidden({}, "Pod running on node without support for resize");
  const auto &spec = now.spec(), &before = was.spec();
  const bool fits = same_order(out, "containers", spec.containers(), before.containers());
  if (!same_order(out, "initContainers", spec.init_containers(), before.init_containers()) || !fits)
    return;
  bool others =
      check_containers_of(out, "containers", spec.containers(), before.containers(), false);
  others |= check_containers_of(out, "initContainers", spec.init_containers(),
                                before.init_containers(), true);
  if (others) out.forbidden({}, "only cpu and memory resources are mutable");
}

}  // namespace troupe::api::validation
