// The small admission plugins that are enabled by default.
#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/networking_v1.pb.h"
#include "api/schema/node_v1.pb.h"
#include "api/schema/storage_v1.pb.h"

namespace troupe::test {

using actors::admission::operation;
using api::core::v1::Node;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::networking::v1::Ingress;
using api::networking::v1::IngressClass;
using api::node::v1::RuntimeClass;
using api::storage::v1::StorageClass;
namespace admission = actors::admission;

namespace {

void put(google::protobuf::Map<std::string, api::resource::Quantity>& into, const std::string& name,
         const std::string& amount) {
  into[name].set_string(amount);
}

RuntimeClass vm_class() {
  RuntimeClass made;
  made.mutable_metadata()->set_name("vm");
  made.set_handler("kata");
  put(*made.mutable_overhead()->mutable_pod_fixed(), "cpu", "250m");
  (*made.mutable_scheduling()->mutable_node_selector())["kind"] = "metal";
  made.mutable_scheduling()->add_tolerations()->set_key("metal");
  return made;
}

Pod pod_of_class(const std::string& name) {
  auto pod = web_pod();
  pod.mutable_spec()->set_runtime_class_name(name);
  return pod;
}

PersistentVolumeClaim claim_of(const std::string& amount, const std::string& phase) {
  PersistentVolumeClaim made;
  made.mutable_metadata()->set_name("data");
  made.mutable_metadata()->set_namespace_("default");
  made.mutable_spec()->set_storage_class_name("fast");
  put(*made.mutable_spec()->mutable_resources()->mutable_requests(), "storage", amount);
  made.mutable_status()->set_phase(phase);
  return made;
}

std::string message_of(const admission::verdict& result) {
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("RuntimeClass gives a pod the overhead, the nodes and the tolerations of its class",
          "[admission]") {
  cluster c{1, without_controllers()};
  c.create(vm_class());
  const admission_case by{admission::make_runtime_class(), c.store().read()};
  auto pod = pod_of_class("vm");
  REQUIRE(by.mutate(pod));
  REQUIRE(by.mutate(pod));  // twice has the same result as once
  CHECK(pod.spec().overhead().at("cpu").string() == "250m");
  CHECK(pod.spec().node_selector().at("kind") == "metal");
  CHECK(pod.spec().tolerations_size() == 1);
  CHECK(by.validate(pod));

  auto plain = web_pod();
  REQUIRE(by.mutate(plain));
  CHECK(plain.spec().overhead().empty());
}

TEST_CASE("RuntimeClass refuses an unknown class, another overhead and another node",
          "[admission]") {
  cluster c{1, without_controllers()};
  c.create(vm_class());
  const admission_case by{admission::make_runtime_class(), c.store().read()};
  auto pod = pod_of_class("none");
  CHECK(message_of(by.mutate(pod)) ==
        "pods \"web\" is forbidden: pod rejected: RuntimeClass \"none\" not found");
  pod = pod_of_class("vm");
  put(*pod.mutable_spec()->mutable_overhead(), "cpu", "1");
  CHECK(message_of(by.mutate(pod)) ==
        "pods \"web\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's "
        "defined Overhead");
  put(*pod.mutable_spec()->mutable_overhead(), "cpu", "0.25");
  CHECK(by.mutate(pod));
  pod = pod_of_class("vm");
  (*pod.mutable_spec()->mutable_node_selector())["kind"] = "cloud";
  CHECK(message_of(by.mutate(pod)) ==
        "pods \"web\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[kind] = metal; "
        "pod.spec.nodeSelector[kind] = cloud");
  pod = web_pod();
  put(*pod.mutable_spec()->mutable_overhead(), "cpu", "1");
  CHECK(message_of(by.validate(pod)) ==
        "pods \"web\" is forbidden: pod rejected: Pod Overhead set without corresponding "
        "RuntimeClass defined Overhead");
}

TEST_CASE("DefaultIngressClass names the newest default class where none is named", "[admission]") {
  cluster c{1, without_controllers()};
  const auto add = [&](const std::string& name, bool is_default) {
    IngressClass made;
    made.mutable_metadata()->set_name(name);
    made.mutable_spec()->set_controller("example.com/" + name);
    if (is_default)
      (*made.mutable_metadata()
            ->mutable_annotations())["ingressclass.kubernetes.io/is-default-class"] = "true";
    c.create(made);
    c.advance(std::chrono::seconds{2});
  };
  Ingress ingress;
  ingress.mutable_metadata()->set_name("web");
  ingress.mutable_metadata()->set_namespace_("default");
  add("a", false);
  const auto chosen = [&] {
    auto made = ingress;
    const admission_case by{admission::make_default_ingress_class(), c.store().read()};
    REQUIRE(by.mutate(made));
    return made.spec().ingress_class_name();
  };
  CHECK(chosen().empty());
  add("b", true);
  add("z", false);
  CHECK(chosen() == "b");
  add("aa", true);
  CHECK(chosen() == "aa");
  (*ingress.mutable_metadata()->mutable_annotations())["kubernetes.io/ingress.class"] = "old";
  CHECK(chosen().empty());
  ingress.mutable_metadata()->clear_annotations();
  ingress.mutable_spec()->set_ingress_class_name("a");
  CHECK(chosen() == "a");
}

TEST_CASE("TaintNodesByCondition keeps pods off a new node that is not ready", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_taint_nodes_by_condition(), c.store().read()};
  Node node;
  node.mutable_metadata()->set_name("n");
  REQUIRE(by.mutate(node));
  REQUIRE(by.mutate(node));
  REQUIRE(node.spec().taints_size() == 1);
  CHECK(node.spec().taints(0).key() == "node.kubernetes.io/not-ready");
  CHECK(node.spec().taints(0).effect() == "NoSchedule");
  node.mutable_spec()->clear_taints();
  auto& ready = *node.mutable_status()->add_conditions();
  ready.set_type("Ready");
  ready.set_status("True");
  REQUIRE(by.mutate(node));
  CHECK(node.spec().taints().empty());
}

TEST_CASE("PersistentVolumeClaimResize lets a bound claim of a class that allows it grow",
          "[admission]") {
  cluster c{1, without_controllers()};
  StorageClass fast;
  fast.mutable_metadata()->set_name("fast");
  fast.set_provisioner("example.com/disk");
  c.create(fast);
  const auto resize = [&](const PersistentVolumeClaim& before, const PersistentVolumeClaim& now) {
    const admission_case by{admission::make_claim_resize(), c.store().read(), operation::update};
    return message_of(by.plugin->validate(by.of(&before, &now)));
  };
  CHECK(resize(claim_of("1Gi", "Bound"), claim_of("1024Mi", "Bound")).empty());
  CHECK(resize(claim_of("2Gi", "Pending"), claim_of("1Gi", "Pending")).empty());
  CHECK(resize(claim_of("1Gi", "Pending"), claim_of("2Gi", "Pending")) ==
        "persistentvolumeclaims \"data\" is forbidden: Only bound persistent volume claims can be "
        "expanded");
  CHECK(resize(claim_of("1Gi", "Bound"), claim_of("2Gi", "Bound")) ==
        "persistentvolumeclaims \"data\" is forbidden: only dynamically provisioned pvc can be "
        "resized and the storageclass that provisions the pvc must support resize");
  c.change<StorageClass>({}, "fast",
                         [](StorageClass& one) { one.set_allow_volume_expansion(true); });
  CHECK(resize(claim_of("1Gi", "Bound"), claim_of("2Gi", "Bound")).empty());
}

TEST_CASE("PodTopologyLabels gives a bound pod the zone and the region of its node",
          "[admission]") {
  cluster c{1, without_controllers()};
  Node node;
  node.mutable_metadata()->set_name("n");
  auto& labels = *node.mutable_metadata()->mutable_labels();
  labels["topology.kubernetes.io/zone"] = "z1";
  labels["topology.kubernetes.io/other"] = "o";
  c.create(node);
  const admission_case by{admission::make_pod_topology_labels(), c.store().read(),
                          operation::update};
  auto pod = web_pod();
  (*pod.mutable_metadata()->mutable_labels())["topology.kubernetes.io/zone"] = "mine";
  pod.mutable_spec()->set_node_name("n");
  const auto bind = [&](std::string_view part) {
    auto bound = pod;
    const auto all = by.of(&pod, &bound);
    persistence::transaction also;
    REQUIRE(by.plugin->mutate({.state = all.state,
                               .kind = all.kind,
                               .op = all.op,
                               .subresource = part,
                               .by = all.by,
                               .before = &pod,
                               .now = &bound},
                              bound, also));
    return bound;
  };
  CHECK(bind("binding").metadata().labels().at("topology.kubernetes.io/zone") == "z1");
  CHECK(bind("binding").metadata().labels_size() == 1);
  CHECK(bind("status").metadata().labels().at("topology.kubernetes.io/zone") == "mine");
}

}  // namespace troupe::test
