#include "api/strategy/strategy.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "api/equality.hpp"
#include "api/manifests.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/strategy/new_pod.hpp"
#include "api/strategy/scale.hpp"

using namespace troupe;
using namespace troupe::api;
using meta::v1::DeleteOptions;
using test::created;

namespace {

constexpr std::int64_t now = 1'500'000'000;

core::v1::Pod running_pod() {
  auto pod = created<core::v1::Pod>(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: "
      "x}]}}");
  pod.mutable_spec()->set_node_name("n");
  pod.mutable_status()->set_phase("Running");
  return pod;
}

core::v1::ReplicationController rc() {
  return created<core::v1::ReplicationController>(
      "{apiVersion: v1, kind: ReplicationController, metadata: {name: a}, spec: {template: "
      "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}");
}

template <class T>
deletion_plan plan(const T& stored, const DeleteOptions& options = {}) {
  auto made = plan_delete(kind_of<T>(), stored, 5, options, now);
  REQUIRE(made);
  return std::move(*made);
}

template <class T>
const T& updated(const deletion_plan& plan) {
  REQUIRE(plan.step == deletion_step::update);
  return static_cast<const T&>(*plan.updated);
}

DeleteOptions with_grace(std::int64_t seconds) {
  DeleteOptions options;
  options.set_grace_period_seconds(seconds);
  return options;
}

DeleteOptions with_policy(const char* policy) {
  DeleteOptions options;
  options.set_propagation_policy(policy);
  return options;
}

}  // namespace

TEST_CASE("generated names keep 58 characters of the base and end without vowels") {
  std::uint64_t next = 12345678901234567u;
  const random_bits random = [&] { return next *= 6364136223846793005u; };
  const auto name = generate_name(std::string(80, 'a'), random);
  CHECK(name.size() == 63);
  CHECK(name.substr(0, 58) == std::string(58, 'a'));
  CHECK(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 58) == std::string::npos);
  CHECK(generate_name("web-", random) != generate_name("web-", random));
}

TEST_CASE("the namespace of the request is the object's") {
  core::v1::Pod pod;
  REQUIRE(settle_namespace(kind_of<core::v1::Pod>(), pod, "ns"));
  CHECK(pod.metadata().namespace_() == "ns");
  CHECK(settle_namespace(kind_of<core::v1::Pod>(), pod, "other").error().code == 400);
  core::v1::Node node;
  node.mutable_metadata()->set_namespace_("x");
  REQUIRE(settle_namespace(kind_of<core::v1::Node>(), node, ""));
  CHECK_FALSE(node.metadata().has_namespace_());
}

TEST_CASE("a new object gets its identity and loses fields that clients may not set") {
  auto pod = created<core::v1::Pod>(R"(
apiVersion: v1
kind: Pod
metadata:
  generateName: web-
  uid: mine
  resourceVersion: "7"
  generation: 9
  deletionTimestamp: "2020-01-01T00:00:00Z"
spec: {containers: [{name: c, image: x, resources: {limits: {cpu: 1, memory: 1Gi}}}]}
status: {phase: Running}
)");
  const auto& meta = pod.metadata();
  CHECK(meta.uid() == "u-1");
  CHECK(meta.name().size() == 9);
  CHECK(meta.name().starts_with("web-"));
  CHECK(meta.generation() == 1);
  CHECK(meta.creation_timestamp().seconds() == 1'400'000'000);
  CHECK_FALSE(meta.has_resource_version());
  CHECK_FALSE(meta.has_deletion_timestamp());
  CHECK(pod.status().phase() == "Pending");
  CHECK(pod.status().qos_class() == "Guaranteed");
}

TEST_CASE("a new pod has no resources of its own") {
  const auto pod = created<core::v1::Pod>(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {resources: {limits: {cpu: 1}}, "
      "containers: [{name: c, image: x}]}}");
  CHECK_FALSE(pod.spec().has_resources());
  CHECK(pod.status().qos_class() == "BestEffort");
}

TEST_CASE("a pod's quality of service follows its requests and limits") {
  const auto qos = [](const char* resources) {
    return std::string(qos_class(
        created<core::v1::Pod>(
            std::string(
                "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, "
                "image: x, resources: ") +
            resources + "}]}}")
            .spec()));
  };
  CHECK(qos("{}") == "BestEffort");
  CHECK(qos("{requests: {cpu: 1}}") == "Burstable");
  CHECK(qos("{limits: {cpu: 1}}") == "Burstable");
  CHECK(qos("{limits: {cpu: 1, memory: 1}, requests: {cpu: 1}}") == "Guaranteed");
  CHECK(qos("{limits: {cpu: 1, memory: 1}, requests: {cpu: 500m}}") == "Burstable");
}

TEST_CASE("a node brings its status, a namespace begins active and held") {
  CHECK(created<core::v1::Node>("{apiVersion: v1, kind: Node, metadata: {name: n}, status: "
                                "{capacity: {cpu: 2}}}")
            .status()
            .allocatable()
            .at("cpu")
            .string() == "2");
  const auto ns = created<core::v1::Namespace>(
      "{apiVersion: v1, kind: Namespace, metadata: "
      "{name: n}}");
  CHECK(ns.status().phase() == "Active");
  REQUIRE(ns.spec().finalizers_size() == 1);
  CHECK(ns.spec().finalizers(0) == "kubernetes");
  CHECK(ns.metadata().labels().at("kubernetes.io/metadata.name") == "n");
}

TEST_CASE("a plain update keeps identity and status, and counts changes of the spec") {
  auto was = rc();
  was.mutable_status()->set_replicas(2);
  auto next = was;
  next.mutable_status()->set_replicas(9);
  next.mutable_metadata()->clear_creation_timestamp();
  next.mutable_metadata()->set_uid("");
  next.mutable_metadata()->set_generation(77);
  (*next.mutable_metadata()->mutable_labels())["x"] = "y";
  prepare_update(kind_of<core::v1::ReplicationController>(), next, was);
  CHECK(next.status().replicas() == 2);
  CHECK(next.metadata().uid() == "u-1");
  CHECK(next.metadata().creation_timestamp().seconds() == 1'400'000'000);
  CHECK(next.metadata().generation() == 1);
  CHECK(next.metadata().labels().at("x") == "y");
  next.mutable_spec()->set_replicas(0);
  prepare_update(kind_of<core::v1::ReplicationController>(), next, was);
  CHECK(next.metadata().generation() == 2);
}

TEST_CASE("a status update takes the status and nothing that is wanted") {
  auto was = rc();
  auto next = was;
  next.mutable_spec()->set_replicas(9);
  next.mutable_status()->set_replicas(3);
  next.mutable_metadata()->add_owner_references()->set_name("o");
  (*next.mutable_metadata()->mutable_annotations())["x"] = "y";
  prepare_status_update(kind_of<core::v1::ReplicationController>(), next, was);
  CHECK(next.spec().replicas() == 1);
  CHECK(next.status().replicas() == 3);
  CHECK(next.metadata().generation() == 1);
  CHECK(next.metadata().owner_references().empty());
  CHECK(next.metadata().annotations().at("x") == "y");
}

TEST_CASE("a service keeps the addresses it was given") {
  auto was = created<core::v1::Service>(
      "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: "
      "80}]}}");
  auto next = was;
  was.mutable_spec()->set_cluster_ip("10.0.0.1");
  was.mutable_spec()->add_cluster_ips("10.0.0.1");
  was.mutable_spec()->mutable_ports(0)->set_node_port(30001);
  prepare_update(kind_of<core::v1::Service>(), next, was);
  CHECK(next.spec().cluster_ip() == "10.0.0.1");
  CHECK(next.spec().ports(0).node_port() == 30001);
}

TEST_CASE("the addresses of a service follow a client that changes only the first one") {
  auto was = created<core::v1::Service>(
      "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}");
  was.mutable_spec()->set_cluster_ip("10.0.0.1");
  was.mutable_spec()->add_cluster_ips("10.0.0.1");
  const auto after = [&was](const char* type, const char* address) {
    auto next = was;
    next.mutable_spec()->set_type(type);
    next.mutable_spec()->set_cluster_ip(address);
    prepare_update(kind_of<core::v1::Service>(), next, was);
    std::string out = next.spec().cluster_ip();
    for (const auto& each : next.spec().cluster_ips())
      out += " " + each;
    return out;
  };
  CHECK(after("ClusterIP", "") == "10.0.0.1 10.0.0.1");
  CHECK(after("ClusterIP", "None") == "None None");
  CHECK(after("ClusterIP", "10.0.0.2") == "10.0.0.2 10.0.0.2");
  CHECK(after("ExternalName", "").empty());
  CHECK(after("ExternalName", "10.0.0.1").empty());
}

TEST_CASE("preconditions compare revision and uid") {
  auto pod = running_pod();
  pod.mutable_metadata()->set_resource_version("41");
  const auto demanded = precondition_of(pod);
  REQUIRE(demanded);
  CHECK(demanded->revision == 41);
  const auto& kind = kind_of<core::v1::Pod>();
  CHECK(check_precondition(kind, *demanded, pod, 41));
  CHECK(check_precondition(kind, *demanded, pod, 42).error().reason == "Conflict");
  CHECK(check_precondition(kind, {0, "other"}, pod, 41).error().code == 409);
  CHECK(check_precondition(kind, {}, pod, 41));
  pod.mutable_metadata()->set_resource_version("4x");
  CHECK(precondition_of(pod).error().code == 400);
}

TEST_CASE("a running pod is given its grace, which can only be shortened") {
  const auto first = plan(running_pod());
  const auto& going = updated<core::v1::Pod>(first);
  CHECK(going.metadata().deletion_timestamp().seconds() == now + 30);
  CHECK(going.metadata().deletion_grace_period_seconds() == 30);
  CHECK(going.metadata().generation() == 2);
  CHECK(plan(going).step == deletion_step::unchanged);
  CHECK(plan(going, with_grace(60)).step == deletion_step::unchanged);
  const auto shorter = plan(going, with_grace(10));
  CHECK(updated<core::v1::Pod>(shorter).metadata().deletion_timestamp().seconds() == now + 10);
  CHECK(updated<core::v1::Pod>(shorter).metadata().generation() == 2);
  CHECK(plan(going, with_grace(0)).step == deletion_step::remove);
}

TEST_CASE("a grace of 292 billion years still has an end that can be written") {
  const auto first = plan(running_pod(), with_grace(std::numeric_limits<std::int64_t>::max()));
  const auto& meta = updated<core::v1::Pod>(first).metadata();
  CHECK(meta.deletion_timestamp().seconds() == now + meta.deletion_grace_period_seconds());
  CHECK(meta.deletion_grace_period_seconds() == std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("a pod that no kubelet runs is removed at once") {
  auto waiting = running_pod();
  waiting.mutable_spec()->clear_node_name();
  CHECK(plan(waiting).step == deletion_step::remove);
  auto done = running_pod();
  done.mutable_status()->set_phase("Succeeded");
  CHECK(plan(done).step == deletion_step::remove);
  CHECK(plan(running_pod(), with_grace(0)).step == deletion_step::remove);
}

TEST_CASE("finalizers hold an object until the last is gone") {
  auto pod = running_pod();
  pod.mutable_metadata()->add_finalizers("example.com/wait");
  const auto marked = plan(pod, with_grace(0));
  auto going = updated<core::v1::Pod>(marked);
  CHECK(going.metadata().deletion_grace_period_seconds() == 0);
  CHECK(plan(going, with_grace(0)).step == deletion_step::unchanged);
  auto freed = going;
  freed.mutable_metadata()->clear_finalizers();
  CHECK(ends_deletion(kind_of<core::v1::Pod>(), freed, going));
  CHECK_FALSE(ends_deletion(kind_of<core::v1::Pod>(), going, going));
  CHECK_FALSE(ends_deletion(kind_of<core::v1::Pod>(), freed, pod));

  core::v1::ConfigMap config;
  config.mutable_metadata()->add_finalizers("x.io/y");
  const auto held = plan(config);
  CHECK(updated<core::v1::ConfigMap>(held).metadata().deletion_timestamp().seconds() == now);
  CHECK(plan(updated<core::v1::ConfigMap>(held)).step == deletion_step::unchanged);
}

TEST_CASE("the propagation policy becomes a finalizer") {
  // A replication controller orphans its pods by default.
  const auto usual = plan(rc());
  CHECK(updated<core::v1::ReplicationController>(usual).metadata().finalizers(0) == "orphan");
  CHECK(plan(rc(), with_policy("Background")).step == deletion_step::remove);
  const auto front = plan(rc(), with_policy("Foreground"));
  const auto& waits = updated<core::v1::ReplicationController>(front);
  CHECK(waits.metadata().finalizers(0) == "foregroundDeletion");
  CHECK(waits.metadata().generation() == 2);
  // A second request without a policy keeps the first policy.
  CHECK(plan(waits).step == deletion_step::unchanged);
  // A second request with another policy changes it.
  CHECK(plan(waits, with_policy("Background")).step == deletion_step::remove);

  apps::v1::ReplicaSet rs;
  CHECK(plan(rs).step == deletion_step::remove);
  DeleteOptions old;
  old.set_orphan_dependents(true);
  const auto orphaned = plan(rs, old);
  CHECK(updated<apps::v1::ReplicaSet>(orphaned).metadata().finalizers(0) == "orphan");
}

TEST_CASE("a namespace begins to end and goes when it is empty") {
  auto ns = created<core::v1::Namespace>("{apiVersion: v1, kind: Namespace, metadata: {name: n}}");
  const auto begun = plan(ns);
  auto going = updated<core::v1::Namespace>(begun);
  CHECK(going.status().phase() == "Terminating");
  CHECK(plan(going).step == deletion_step::unchanged);
  auto emptied = going;
  emptied.mutable_spec()->clear_finalizers();
  prepare_finalize(emptied, going);
  CHECK(emptied.spec().finalizers().empty());
  CHECK(ends_deletion(kind_of<core::v1::Namespace>(), emptied, going));
  CHECK_FALSE(ends_deletion(kind_of<core::v1::Namespace>(), going, going));
}

TEST_CASE("a deletion's preconditions and options are checked") {
  DeleteOptions options;
  options.mutable_preconditions()->set_uid("other");
  const auto& kind = kind_of<core::v1::Pod>();
  const auto conflict = plan_delete(kind, running_pod(), 5, options, now);
  REQUIRE_FALSE(conflict);
  CHECK(conflict.error().code == 409);
  CHECK(
      conflict.error().message.ends_with("the UID in the precondition (other) does not match the "
                                         "UID in record (u-1). The object might "
                                         "have been deleted and then recreated"));
  options.Clear();
  options.mutable_preconditions()->set_resource_version("4");
  CHECK(plan_delete(kind, running_pod(), 5, options, now).error().code == 409);
  CHECK(plan_delete(kind, running_pod(), 4, options, now));
  CHECK(plan_delete(kind, running_pod(), 5, with_policy("Sideways"), now).error().code == 422);
  options = with_policy("Orphan");
  options.set_orphan_dependents(true);
  CHECK(plan_delete(kind, running_pod(), 5, options, now).error().code == 422);
}

TEST_CASE("a scale shows and sets the number of replicas") {
  auto controller = rc();
  controller.mutable_status()->set_replicas(4);
  controller.mutable_metadata()->set_resource_version("9");
  const auto& kind = kind_of<core::v1::ReplicationController>();
  auto scale = scale_of(kind, controller).value();
  CHECK(scale.spec().replicas() == 1);
  CHECK(scale.status().replicas() == 4);
  CHECK(scale.status().selector() == "a=b");
  CHECK(scale.metadata().resource_version() == "9");
  scale.mutable_spec()->set_replicas(7);
  REQUIRE(set_scale(kind, controller, scale));
  CHECK(controller.spec().replicas() == 7);
}

TEST_CASE("an absent and an empty value are equal only where the schema says so") {
  core::v1::Pod a, b;
  a.mutable_spec()->add_containers()->mutable_resources();
  b.mutable_spec()->add_containers();
  CHECK(same_meaning(a, b));
  (*a.mutable_spec()->mutable_node_selector())["x"] = "1";
  (*a.mutable_spec()->mutable_node_selector())["y"] = "2";
  CHECK_FALSE(same_meaning(a, b));
  (*b.mutable_spec()->mutable_node_selector())["y"] = "2";
  (*b.mutable_spec()->mutable_node_selector())["x"] = "1";
  CHECK(same_meaning(a, b));
  a.mutable_spec()->set_host_network(false);
  CHECK(same_meaning(a, b));
  a.mutable_spec()->set_enable_service_links(false);
  CHECK_FALSE(same_meaning(a, b));
  b.mutable_spec()->set_enable_service_links(false);
  a.mutable_spec()->mutable_affinity();
  CHECK_FALSE(same_meaning(a, b));
}
