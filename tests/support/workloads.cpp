#include "support/workloads.hpp"

#include <stdexcept>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/replication/pod_record.hpp"
#include "actors/core/condition.hpp"
#include "runtime/defaults.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::PodTemplateSpec;
using api::core::v1::ReplicationController;
using std::chrono::milliseconds;

namespace {

template <class T>
T named(const std::string& name, int replicas) {
  T object;
  object.mutable_metadata()->set_name(name);
  object.mutable_metadata()->set_namespace_("default");
  object.mutable_spec()->set_replicas(replicas);
  return object;
}

void fill(PodTemplateSpec& pod, const labels& of) {
  for (const auto& [key, value] : of)
    (*pod.mutable_metadata()->mutable_labels())[key] = value;
  *pod.mutable_spec() = pod_named("x").spec();
}

template <class T>
void select(T& spec, const labels& of) {
  for (const auto& [key, value] : of)
    (*spec.mutable_selector()->mutable_match_labels())[key] = value;
  fill(*spec.mutable_template_(), of);
}

// How often a sync was requested.
std::uint64_t syncs_due(cluster& c, const std::string& kind, const std::string& name) {
  const auto& actors = c.simulation().system().actors();
  const auto seen = actors.detail(actors.find(kind, name).id());
  for (const auto& each : seen->messages)
    if (each.type.find("sync_due") != each.type.npos) return each.received;
  return 0;
}

}  // namespace

ReplicationController replication_controller(const std::string& name, int replicas,
                                             const labels& of) {
  auto object = named<ReplicationController>(name, replicas);
  for (const auto& [key, value] : of)
    (*object.mutable_spec()->mutable_selector())[key] = value;
  fill(*object.mutable_spec()->mutable_template_(), of);
  return object;
}

ReplicaSet replica_set(const std::string& name, int replicas, const labels& of) {
  auto object = named<ReplicaSet>(name, replicas);
  select(*object.mutable_spec(), of);
  return object;
}

Deployment deployment(const std::string& name, int replicas, const std::string& image) {
  auto object = named<Deployment>(name, replicas);
  select(*object.mutable_spec(), {{"app", name}});
  object.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->set_image(
      image);
  return object;
}

void run_kubelets(cluster& c, const std::function<bool(const Pod&)>& spare) {
  for (const auto& node : c.list<Node>()) {
    const auto& conditions = node->as<Node>().status().conditions();
    const auto* ready = actors::find_condition(conditions, "Ready");
    if (ready == nullptr || ready->status() != "True") post_ready(c, node->meta().name(), "True");
  }
  for (const auto& object : c.list<Pod>()) {
    const auto& pod = object->as<Pod>();
    const auto& phase = pod.status().phase();
    if (pod.spec().node_name().empty() || (spare && spare(pod))) continue;
    if (pod.metadata().has_deletion_timestamp()) {
      c.remove<Pod>(pod.metadata().namespace_(), pod.metadata().name(), 0);
    } else if (phase != "Failed" && phase != "Succeeded" &&
               !actors::replication::read_pod(object).ready) {
      c.change<Pod>(pod.metadata().namespace_(), pod.metadata().name(), [&](Pod& changed) {
        changed.mutable_status()->set_phase("Running");
        actors::set_condition(*changed.mutable_status()->mutable_conditions(), {"Ready", "True"},
                              c.now());
      });
    }
  }
}

void post_pod(cluster& c, const std::string& name, bool ready) {
  c.change<Pod>("default", name, [&](Pod& changed) {
    changed.mutable_status()->set_phase("Running");
    actors::set_condition(*changed.mutable_status()->mutable_conditions(),
                          {"Ready", ready ? "True" : "False"}, c.now());
  });
}

std::size_t active_pods(const cluster& c, const std::string& owner_uid) {
  std::size_t count = 0;
  for (const auto& pod : c.list<Pod>())
    if (actors::controller_uid(*pod) == owner_uid && actors::replication::read_pod(pod).active())
      ++count;
  return count;
}

milliseconds until_next_sync(cluster& c, const std::string& kind, const std::string& name) {
  c.settle();
  const auto began = c.now();
  const auto before = syncs_due(c, kind, name);
  const bool came =
      c.run_until([&] { return syncs_due(c, kind, name) != before; }, std::chrono::minutes{20});
  if (!came) throw std::logic_error{name + " has not looked for 20 minutes"};
  return std::chrono::duration_cast<milliseconds>(c.now() - began);
}

bool is_delay(milliseconds taken, milliseconds delay) {
  const bool coalesced = delay >= runtime::defaults::coalesced_delay;
  const runtime::duration grid =
      coalesced ? runtime::defaults::coalesced_grid : runtime::duration::zero();
  return taken >= delay - grid && taken <= delay + grid;
}

}  // namespace troupe::test
