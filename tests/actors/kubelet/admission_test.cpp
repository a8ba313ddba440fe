// Pods that a kubelet does not admit: rule by rule, and on a real kubelet.
#include "actors/kubelet/node/admission.hpp"

#include <catch2/catch.hpp>

#include "actors/kubelet/machine.hpp"
#include "actors/scheduler/builders.hpp"

namespace troupe::test {

using actors::rejection;
using actors::scheduler::cluster_view;
using actors::scheduler::make_node;
using actors::scheduler::make_pod;
using actors::scheduler::make_request;

namespace {

std::string pod(const std::string& name, const std::string& script, const std::string& more = {}) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 1\n  restartPolicy: Never\n" + more +
         "  containers:\n  - name: c\n    image: x\n    command: [sh, -c, \"" + script + "\"]\n";
}

}  // namespace

TEST_CASE("a pod that its node cannot run is rejected with upstream's message", "[kubelet]") {
  cluster_view view;
  view.put_node(make_node("n", "{colour: blue}",
                          "{taints: [{key: old, effect: NoSchedule}, {key: out, value: now, "
                          "effect: NoExecute}]}",
                          "2", "1Gi", "2"));
  const auto on_port = [](const std::string& name) {
    return make_pod(name,
                    "{tolerations: [{operator: Exists}], containers: [{name: c, ports: "
                    "[{containerPort: 80, hostPort: 80, protocol: TCP}]}]}");
  };
  view.put_pod(on_port("old"), "n");
  const auto& node = *view.find("n");
  const auto refusal = [&](const actors::scheduler::pod_info_ptr& pod) {
    const auto failure = rejection(*pod, node);
    return failure ? failure->reason + ": " + failure->message : "";
  };
  CHECK(refusal(make_request("p", "100", "1Mi")) ==
        "OutOfcpu: Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: "
        "2000");
  CHECK_THAT(refusal(make_request("p", "1", "2Gi")), Catch::StartsWith("OutOfmemory: "));
  CHECK(refusal(make_pod("p", "{nodeSelector: {colour: red}}")) ==
        "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
        "affinity/selector");
  CHECK_THAT(refusal(on_port("p")), Catch::StartsWith("NodePorts: Predicate NodePorts failed: "));
  CHECK_THAT(refusal(make_pod("p")), Catch::StartsWith("TaintToleration: "));
  // Neither a taint for scheduling only nor a resource that the node does not count matters.
  CHECK(refusal(make_pod(
                    "p",
                    "{tolerations: [{key: out, operator: Exists}], nodeSelector: {colour: blue}, "
                    "containers: [{name: c, resources: {requests: {cpu: 2, ephemeral-storage: 1Gi, "
                    "example.com/dongle: 1}}}]}"))
            .empty());
  view.put_pod(make_pod("second"), "n");
  CHECK(refusal(make_pod("p")) ==
        "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2");
}

TEST_CASE("a pod that names a node without room for it fails there, and takes nothing",
          "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.max_pods = 1; };
  here.start_kubelet();
  here.create(pod("choosy", "exec sleep 300", "  nodeSelector: {colour: blue}\n"));
  REQUIRE(machine::wait([&] { return here.status("choosy").phase() == "Failed"; }));
  CHECK(here.status("choosy").reason() == "NodeAffinity");
  CHECK_THAT(here.status("choosy").message(),
             Catch::StartsWith("Pod was rejected: Predicate NodeAffinity failed: "));
  here.create(pod("first", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("first"); }));
  here.request = 7;
  here.create(pod("second", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return !here.events("second", "OutOfpods").empty(); }));
  REQUIRE(machine::wait([&] { return here.ended("second"); }));
  const auto status = here.status("second");
  CHECK(status.phase() == "Failed");
  CHECK(status.reason() == "OutOfpods");
  CHECK_THAT(status.message(), Catch::EndsWith("pods, requested: 1, used: 1, capacity: 1"));
  CHECK(here.changes("second").back().cause.request == 7);
  // The next kubelet leaves started and rejected pods as they are.
  here.stop_kubelet();
  here.adjust = [](actors::kubelet_options& options) { options.max_pods = 0; };
  here.start_kubelet();
  here.create(pod("third", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.ended("third"); }));
  CHECK(here.runs("first"));
  CHECK(here.status("second").SerializeAsString() == status.SerializeAsString());
  here.remove("second");
  CHECK(machine::wait([&] { return !here.find("second"); }));
}

TEST_CASE("a pod that has ended leaves its room to the next", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.max_pods = 1; };
  here.start_kubelet();
  here.create(pod("first", "exit 0"));
  REQUIRE(machine::wait([&] { return here.ended("first"); }));
  here.create(pod("second", "exec sleep 300"));
  CHECK(machine::wait([&] { return here.runs("second"); }));
  here.remove("second");
  REQUIRE(machine::wait([&] { return !here.find("second"); }));
  here.create(pod("third", "exec sleep 300"));
  CHECK(machine::wait([&] { return here.runs("third"); }));
}

}  // namespace troupe::test
