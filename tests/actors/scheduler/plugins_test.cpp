// Each plugin by a table: the node chosen for a pod, or the reason for the refusal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "actors/scheduler/algorithm.hpp"
#include "builders.hpp"
#include "support/cpu_time.hpp"

namespace troupe::actors::scheduler {

namespace {

struct bench {
  std::unique_ptr<profile> with = *profile::make(*built_in_profile("today"));
  algorithm chooser{*with};
  cluster_view view;
  std::mt19937_64 random{909};

  void node(const api::object_ptr& node) { view.put_node(node); }
  void bound(const pod_info_ptr& pod, const std::string& node) { view.put_pod(pod, node); }
  // The chosen node, or the reason why there is none.
  std::string place(const pod_info_ptr& pod) {
    auto found = chooser.schedule(pod, view, random);
    return found ? *found : found.error().message;
  }
  std::string refusal(const pod_info_ptr& pod) {
    const auto text = place(pod);
    return text.substr(0, text.find(" preemption:"));
  }
};

}  // namespace

TEST_CASE("a pod goes where its requests fit, and the message names the missing resources",
          "[scheduler]") {
  bench b;
  CHECK(b.place(make_request("p", "1", "1Gi")) == "no nodes available to schedule pods");
  b.node(make_node("small", "{}", "{}", "1", "1Gi"));
  b.node(make_node("large", "{}", "{}", "8", "16Gi"));
  CHECK(b.place(make_request("p", "4", "1Gi")) == "large");
  CHECK(b.refusal(make_request("p", "9", "1Gi")) == "0/2 nodes are available: 2 Insufficient cpu.");
  CHECK(b.refusal(make_request("p", "4", "32Gi")) ==
        "0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.");
  b.bound(make_request("q", "7", "1Gi"), "large");
  CHECK(b.refusal(make_request("p", "4", "1Gi")) == "0/2 nodes are available: 2 Insufficient cpu.");
  b.node(make_node("full", "{}", "{}", "4", "8Gi", "0"));
  CHECK(b.refusal(make_request("p", "2", "1Gi")) ==
        "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.");
}

TEST_CASE("amounts without bounds fit nowhere, however many containers ask for them",
          "[scheduler]") {
  bench b;
  b.node(make_node("n", "{}", "{}", "8", "16Gi"));
  const auto request = [](const std::string& cpu, const std::string& memory) {
    return "{name: c, resources: {requests: {cpu: \"" + cpu + "\", memory: \"" + memory + "\"}}}";
  };
  const auto huge = request("1e999999999", "1");
  const auto heavy = request("1", "9223372036854775807");
  CHECK(b.refusal(make_pod("p", "{containers: [" + huge + ", " + huge + "]}")) ==
        "0/1 nodes are available: 1 Insufficient cpu.");
  CHECK(b.refusal(make_pod("p", "{containers: [" + heavy + ", " + heavy +
                                    "], overhead: {memory: "
                                    "8Ei}}")) == "0/1 nodes are available: 1 Insufficient memory.");
  for (int i = 0; i < 3; ++i)
    b.bound(make_pod("q" + std::to_string(i), "{containers: [" + heavy + "]}"), "n");
  CHECK(b.refusal(make_request("p", "1", "1Gi")) ==
        "0/1 nodes are available: 1 Insufficient memory.");
}

TEST_CASE("cordoned and tainted nodes take only pods that tolerate it", "[scheduler]") {
  bench b;
  b.node(make_node("cordoned", "{}", "{unschedulable: true}"));
  b.node(make_node("tainted", "{}", "{taints: [{key: gpu, value: \"yes\", effect: NoSchedule}]}"));
  CHECK(b.refusal(make_pod("p")) ==
        "0/2 nodes are available: 1 node(s) had untolerated taint {gpu: yes}, 1 node(s) were "
        "unschedulable.");
  CHECK(b.place(make_pod("p", "{tolerations: [{key: gpu, operator: Exists}]}")) == "tainted");
  CHECK(b.place(make_pod("p",
                         "{tolerations: [{key: node.kubernetes.io/unschedulable, "
                         "operator: Exists, effect: NoSchedule}]}")) == "cordoned");
}

TEST_CASE("a node is evaluated in its current state, however often it was cordoned and tainted",
          "[scheduler]") {
  bench b;
  const auto cordoned = [&] { b.node(make_node("n", "{}", "{unschedulable: true}")); };
  const auto tainted = [&] {
    b.node(make_node("n", "{}", "{taints: [{key: a, effect: NoSchedule}]}"));
  };
  const auto gone = [&] { b.view.remove_node("n"); };
  const auto open = [&] { b.node(make_node("n")); };
  open();
  for (int round = 0; round < 3; ++round) {
    CHECK(b.place(make_pod("p")) == "n");
    cordoned();
    CHECK(b.refusal(make_pod("p")) == "0/1 nodes are available: 1 node(s) were unschedulable.");
    if (round == 1) gone();
    tainted();
    CHECK(b.refusal(make_pod("p")) ==
          "0/1 nodes are available: 1 node(s) had untolerated taint {a: }.");
    if (round == 2) gone();
    open();
  }
}

TEST_CASE("a node with a PreferNoSchedule taint is used only when there is no other",
          "[scheduler]") {
  bench b;
  b.node(make_node("shy", "{}", "{taints: [{key: a, effect: PreferNoSchedule}]}"));
  CHECK(b.place(make_pod("p")) == "shy");
  b.node(make_node("open"));
  for (int i = 0; i < 10; ++i)
    CHECK(b.place(make_pod("p")) == "open");
}

TEST_CASE("selectors and node affinity choose nodes by label", "[scheduler]") {
  bench b;
  b.node(make_node("one", "{disk: ssd, zone: a}"));
  b.node(make_node("two", "{disk: hdd, zone: b}"));
  CHECK(b.place(make_pod("p", "{nodeSelector: {disk: ssd}}")) == "one");
  CHECK(b.refusal(make_pod("p", "{nodeSelector: {disk: tape}}")) ==
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.");
  const std::string required =
      "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuring"
      "Execution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, "
      "operator: In, values: [b, c]}]}]}}}}";
  CHECK(b.place(make_pod("p", required)) == "two");
  const std::string preferred =
      "{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuring"
      "Execution: [{weight: 100, preference: {matchExpressions: [{key: "
      "zone, operator: In, values: [a]}]}}]}}}";
  for (int i = 0; i < 10; ++i)
    CHECK(b.place(make_pod("p", preferred)) == "one");
}

TEST_CASE("a pod that names its node is evaluated on that node alone", "[scheduler]") {
  bench b;
  for (const char* name : {"a", "b", "c"})
    b.node(make_node(name, "{}", "{}", "1", "1Gi"));
  const auto named = [](const std::string& nodes, const std::string& cpu = "100m") {
    return make_pod("p",
                    "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "{nodeSelectorTerms: " +
                        nodes + "}}}, containers: [{name: c, resources: {requests: {cpu: \"" + cpu +
                        "\"}}}]}");
  };
  const auto field = [](const std::string& node) {
    return "{matchFields: [{key: metadata.name, operator: In, values: [" + node + "]}]}";
  };
  CHECK(b.place(named("[" + field("b") + "]")) == "b");
  CHECK(b.refusal(named("[" + field("b") + "]", "2")) ==
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity].");
  CHECK(b.refusal(named("[" + field("gone") + "]")) ==
        "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].");
  b.bound(make_request("q", "1", "1Gi"), "b");
  CHECK(b.place(named("[" + field("b") + ", " + field("c") + "]")) == "c");
  // A term without a name allows others.
  CHECK(b.place(named("[" + field("b") +
                      ", {matchExpressions: [{key: x, operator: DoesNotExist}]}]")) != "b");
}

TEST_CASE("a bound that is no number selects nothing", "[scheduler]") {
  bench b;
  b.node(make_node("n", "{size: \"7\"}"));
  const auto above = [](const std::string& bound) {
    return make_pod("p",
                    "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "{nodeSelectorTerms: [{matchExpressions: [{key: size, operator: Gt, values: "
                    "[\"" +
                        bound + "\"]}]}]}}}}");
  };
  CHECK(b.place(above("6")) == "n");
  for (const char* bound : {"99999999999999999999", "6x", "x", ""})
    CHECK(b.refusal(above(bound)) ==
          "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
}

TEST_CASE("two pods do not share a host port", "[scheduler]") {
  bench b;
  b.node(make_node("one"));
  b.node(make_node("two"));
  const std::string spec = "{containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}";
  const auto first = b.place(make_pod("p", spec));
  b.bound(make_pod("p", spec), first);
  const auto second = b.place(make_pod("q", spec));
  CHECK(first != second);
  b.bound(make_pod("q", spec), second);
  CHECK(b.refusal(make_pod("r", spec)) ==
        "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.");
}

TEST_CASE("the host port of a sidecar is taken, that of another init container is not",
          "[scheduler]") {
  bench b;
  b.node(make_node("n"));
  const std::string init =
      "{initContainers: [{name: i, ports: [{containerPort: 80, hostPort: 80}]}]}";
  b.bound(make_pod("p", init), "n");
  const std::string sidecar =
      "{initContainers: [{name: s, restartPolicy: Always, ports: [{containerPort: 80, hostPort: "
      "80}]}]}";
  CHECK(b.place(make_pod("q", sidecar)) == "n");
  b.bound(make_pod("q", sidecar), "n");
  CHECK(b.place(make_pod("r", init)) == "n");
  CHECK(b.refusal(make_pod("s", sidecar)) ==
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.");
}

TEST_CASE("pods spread over zones within maxSkew", "[scheduler]") {
  bench b;
  b.node(make_node("a1", "{zone: a}"));
  b.node(make_node("a2", "{zone: a}"));
  b.node(make_node("b1", "{zone: b}"));
  const std::string spec =
      "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
      "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}";
  int in_b = 0;
  for (int i = 0; i < 6; ++i) {
    const auto pod = make_pod("p" + std::to_string(i), spec, "{app: web}");
    const auto node = b.place(pod);
    in_b += node == "b1" ? 1 : 0;
    b.bound(pod, node);
    CHECK(std::abs(i + 1 - 2 * in_b) <= 1);
  }
}

TEST_CASE("a zone that the pod cannot use is not counted, according to its policies",
          "[scheduler]") {
  bench b;
  for (const std::string zone : {"a", "b", "c", "d"})
    b.node(make_node(zone, "{zone: " + zone + (zone == "d" ? ", pool: other" : ", pool: web") + "}",
                     zone == "c" ? "{taints: [{key: k, effect: NoSchedule}]}" : "{}"));
  const auto web = [](int i, const std::string& policies) {
    return make_pod("p" + std::to_string(i),
                    "{nodeSelector: {pool: web}, topologySpreadConstraints: [{maxSkew: 1, "
                    "topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
                    "{matchLabels: {app: web}}" +
                        policies + "}]}",
                    "{app: web}");
  };
  const std::string refused =
      "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had "
      "untolerated taint {k: }, 2 node(s) didn't match pod topology spread constraints.";
  const auto first = web(0, ""), second = web(1, "");
  b.bound(first, b.place(first));
  b.bound(second, b.place(second));
  // No pod is in c, where a taint refuses them.
  CHECK(b.refusal(web(2, "")) == refused);
  CHECK(b.refusal(web(2, ", nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore")) == refused);
  const auto third = b.place(web(2, ", nodeTaintsPolicy: Honor"));
  CHECK((third == "a" || third == "b"));
}

TEST_CASE("pods are counted that share the values of matchLabelKeys", "[scheduler]") {
  bench b;
  b.node(make_node("a", "{zone: a}"));
  b.node(make_node("b", "{zone: b}"));
  const auto of = [](const std::string& hash, const std::string& selector) {
    return make_pod("new",
                    "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                    "whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [hash]" +
                        selector + "}]}",
                    "{app: web, hash: '" + hash + "'}");
  };
  const std::string web = ", labelSelector: {matchLabels: {app: web}}";
  for (const std::string name : {"x", "y", "z"})
    b.bound(make_pod(name, "{}", "{app: web, hash: '1'}"), "a");
  for (int i = 0; i < 10; ++i)
    CHECK(b.place(of("1", web)) == "b");
  std::map<std::string, int> on;
  for (int i = 0; i < 40; ++i)
    ++on[b.place(of("2", web))];
  CHECK(on["a"] > 0);
  // Without a selector no pods are counted.
  for (int i = 0; i < 40; ++i)
    ++on[b.place(of("1", ""))];
  CHECK(on["a"] + on["b"] == 80);
}

TEST_CASE("a node without the label is the last that a soft constraint takes", "[scheduler]") {
  bench b;
  b.node(make_node("a", "{zone: a}"));
  b.node(make_node("nowhere"));
  const std::string spec =
      "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
      "ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]}";
  b.bound(make_pod("p", spec, "{app: web}"), "a");
  for (int i = 0; i < 10; ++i)
    CHECK(b.place(make_pod("q", spec, "{app: web}")) == "a");
}

TEST_CASE("the pods of a controller are spread although one node has the most room",
          "[scheduler]") {
  bench b;
  b.node(make_node("small", "{}", "{}", "40", "80Gi"));
  b.node(make_node("medium", "{}", "{}", "160", "320Gi"));
  b.node(make_node("large", "{}", "{}", "4k", "8Ti"));
  const auto place = [&](const pod_info_ptr& pod) {
    const auto node = b.place(pod);
    b.bound(pod, node);
    return node;
  };
  for (const std::string owner : {"web", "db"}) {
    std::map<std::string, int> on;
    for (int i = 0; i < 30; ++i)
      ++on[place(make_replica(owner + std::to_string(i), owner))];
    CHECK(on["small"] >= 8);
    CHECK(on["medium"] >= 8);
    CHECK(on["large"] >= 8);
  }
  // Pods without an owner go to the node with the most room.
  for (int i = 0; i < 5; ++i)
    CHECK(place(make_pod("alone" + std::to_string(i), "{containers: [{name: c}]}")) == "large");
}

TEST_CASE("the pods of a controller are spread over zones", "[scheduler]") {
  bench b;
  for (const std::string node : {"a1", "a2", "a3", "b1"})
    b.node(make_node(node, "{topology.kubernetes.io/zone: " + node.substr(0, 1) + "}"));
  std::map<std::string, int> on;
  for (int i = 0; i < 12; ++i) {
    const auto pod = make_replica("p" + std::to_string(i), "web");
    const auto node = b.place(pod);
    ++on[node];
    b.bound(pod, node);
  }
  // With hosts alone it would have had 3.
  CHECK(on["b1"] >= 4);
  CHECK(on["b1"] <= 6);
}

TEST_CASE("the incremental count of siblings equals the existing ones", "[scheduler]") {
  std::mt19937_64 random{5};
  cluster_view view;
  const auto draw = [&](int below) { return static_cast<int>(random() % below); };
  const auto name = [](const char* of, int n) { return of + std::to_string(n); };
  for (int n = 0; n < 5; ++n)
    view.put_node(make_node(name("n", n)));
  for (std::uint64_t step = 1; step < 3'000; ++step) {
    const auto pod =
        make_replica(name("p", draw(30)), name("rs", draw(3)),
                     draw(5) == 0 ? ", deletionTimestamp: \"2026-01-01T00:00:00Z\"" : "", step);
    switch (draw(6)) {
      case 0:
        view.remove_pod(pod->key);
        break;
      case 1:
        view.forget(pod->key);
        break;
      case 2:
        if (view.node_of(pod->key).empty()) view.assume(pod, name("n", draw(5)));
        break;
      case 3:
        view.remove_node(name("n", draw(5)));
        break;
      case 4:
        view.put_node(make_node(name("n", draw(5))));
        break;
      default:
        view.put_pod(pod, name("n", draw(5)));
    }
    for (int rs = 0; rs < 3; ++rs) {
      const auto* counted = view.siblings(*make_replica("any", name("rs", rs)));
      std::int64_t all = 0;
      for (const auto* node : view.nodes()) {
        const auto here =
            std::count_if(node->pods().begin(), node->pods().end(), [&](const pod_info_ptr& each) {
              return each->controller == name("rs", rs) &&
                     !each->pod->meta().has_deletion_timestamp();
            });
        REQUIRE((counted == nullptr ? 0 : counted->at(node->slot())) == here);
        all += here;
      }
      int slots = 0;
      if (counted != nullptr) counted->each([&](std::uint32_t, std::int64_t) { ++slots; });
      REQUIRE(slots <= 5);
      if (counted != nullptr && view.nodes().size() == 5) REQUIRE(all > 0);
    }
  }
}

TEST_CASE("pod affinity and anti-affinity are respected", "[scheduler]") {
  bench b;
  b.node(make_node("one", "{host: one, zone: a}"));
  b.node(make_node("two", "{host: two, zone: a}"));
  const std::string apart =
      "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{labelSelector: {matchLabels: {app: db}}, topologyKey: host}]}}}";
  const auto first = b.place(make_pod("db-0", apart, "{app: db}"));
  b.bound(make_pod("db-0", apart, "{app: db}"), first);
  const auto second = b.place(make_pod("db-1", apart, "{app: db}"));
  CHECK(second != first);
  b.bound(make_pod("db-1", apart, "{app: db}"), second);
  CHECK(b.refusal(make_pod("db-2", apart, "{app: db}")) ==
        "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.");
  // Existing pods also repel pods that match their anti-affinity.
  CHECK(b.refusal(make_pod("db-3", "{}", "{app: db}")) ==
        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.");

  const std::string near =
      "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{labelSelector: {matchLabels: {app: cache}}, topologyKey: host}]}}}";
  CHECK(b.refusal(make_pod("web", near)) ==
        "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.");
  CHECK_FALSE(b.place(make_pod("cache-0", near, "{app: cache}")).empty());
  b.bound(make_pod("cache-0", near, "{app: cache}"), "two");
  CHECK(b.place(make_pod("web", near)) == "two");
}

TEST_CASE("affinity terms apply to the namespaces that their labels select", "[scheduler]") {
  bench b;
  b.node(make_node("one", "{host: one}"));
  b.node(make_node("two", "{host: two}"));
  const auto ns = [&](const std::string& name, const std::string& labels) {
    b.view.put_namespace(
        parse<api::core::v1::Namespace>("metadata: {name: " + name + ", labels: " + labels + "}"));
  };
  ns("a", "{team: blue}");
  b.bound(make_pod("cache", "{}", "{app: cache}"), "two");
  const auto near = [](const std::string& more) {
    return make_pod("web",
                    "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "[{labelSelector: {matchLabels: {app: cache}}, topologyKey: host" +
                        more + "}]}}}",
                    "{hash: '1'}");
  };
  const std::string refused = "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.";
  CHECK(b.place(near(", namespaceSelector: {}")) == "two");
  CHECK(b.place(near(", namespaceSelector: {matchLabels: {team: blue}}")) == "two");
  CHECK(b.refusal(near(", namespaceSelector: {matchLabels: {team: red}}")) == refused);
  CHECK(b.place(near(", namespaceSelector: {matchLabels: {team: red}}, namespaces: [a]")) == "two");
  ns("a", "{team: red}");
  CHECK(b.place(near(", namespaceSelector: {matchLabels: {team: red}}")) == "two");
  b.view.remove_namespace("a");
  CHECK(b.refusal(near(", namespaceSelector: {matchLabels: {team: red}}")) == refused);
  CHECK(b.refusal(near(", matchLabelKeys: [hash]")) == refused);
  CHECK(b.place(near(", mismatchLabelKeys: [hash]")) == "two");
}

TEST_CASE("nodes are never overcommitted and every pod that fits finds one", "[scheduler]") {
  std::mt19937 random{588};
  for (int round = 0; round < 20; ++round) {
    bench b;
    std::map<std::string, std::int64_t> left;
    for (int i = 0; i < 8; ++i) {
      const auto cpu = 1 + random() % 8;
      b.node(make_node("n" + std::to_string(i), "{}", "{}", std::to_string(cpu), "64Gi"));
      left["n" + std::to_string(i)] = static_cast<std::int64_t>(cpu) * 1'000;
    }
    for (int i = 0; i < 60; ++i) {
      const auto milli = static_cast<std::int64_t>(100 + random() % 3'000);
      const auto pod = make_request("p" + std::to_string(i), std::to_string(milli) + "m", "1Mi");
      const bool fits = std::any_of(left.begin(), left.end(),
                                    [&](const auto& node) { return node.second >= milli; });
      auto found = b.chooser.schedule(pod, b.view, b.random);
      REQUIRE(found.has_value() == fits);
      if (!found) continue;
      left[*found] -= milli;
      REQUIRE(left[*found] >= 0);
      b.bound(pod, *found);
    }
  }
}

TEST_CASE("a pod preempts as few and as unimportant pods as possible", "[scheduler]") {
  bench b;
  b.node(make_node("one", "{}", "{}", "4", "8Gi"));
  b.node(make_node("two", "{}", "{}", "4", "8Gi"));
  const auto bind = [&](const std::string& name, const std::string& cpu, int priority,
                        const std::string& node) {
    b.bound(make_pod(name, "{nodeName: " + node + ", priority: " + std::to_string(priority) +
                               ", containers: [{name: c, resources: {requests: {cpu: \"" + cpu +
                               "\"}}}]}"),
            node);
  };
  bind("important", "4", 100, "one");
  bind("small", "1", 10, "two");
  bind("tiny", "1", 5, "two");
  bind("big", "2", 10, "two");
  auto refused = b.chooser.schedule(make_request("p", "1", "1Mi", 50), b.view, b.random);
  REQUIRE_FALSE(refused);
  const auto& preemption = refused.error().make_room;
  CHECK(preemption.node == "two");
  REQUIRE(preemption.victims.size() == 1);
  CHECK(preemption.victims[0]->pod->meta().name() == "tiny");

  CHECK(b.chooser.schedule(make_request("q", "1", "1Mi", 1), b.view, b.random)
            .error()
            .make_room.node.empty());
}

TEST_CASE("the requests of a pod are its containers' or its largest init container's") {
  const auto pod = make_pod(
      "p",
      "{overhead: {cpu: 10m}, containers: [{name: a, resources: {requests: {cpu: 100m, "
      "memory: 1Gi, example.com/gpu: 2}}}, {name: b, resources: {requests: {cpu: 200m}}}], "
      "initContainers: [{name: i, resources: {requests: {cpu: 500m, memory: 1Mi}}}]}");
  CHECK(pod->requests.milli_cpu == 510);
  CHECK(pod->requests.memory == std::int64_t{1} << 30);
  CHECK(pod->requests.extended_amount("example.com/gpu") == 2);
  CHECK(pod->scoring_requests.memory == (std::int64_t{1} << 30) + (std::int64_t{200} << 20));
}

TEST_CASE("a resized pod holds the larger of its requested and its allocated resources") {
  auto pod = make_pod("p",
                      "{containers: [{name: a, resources: {requests: {cpu: 300m, memory: "
                      "1Gi}}}, {name: b, resources: {requests: {cpu: 200m}}}]}")
                 ->pod->copy_as<api::core::v1::Pod>();
  auto& status = *pod->mutable_status()->add_container_statuses();
  status.set_name("a");
  const auto before = *pod;
  (*status.mutable_allocated_resources())["cpu"].set_string("100m");
  (*status.mutable_resources()->mutable_requests())["cpu"].set_string("400m");
  CHECK(pod_requests(*pod).milli_cpu == 600);
  CHECK(pod_requests(*pod).memory == std::int64_t{1} << 30);
  CHECK_FALSE(have_equal_requests(before, *pod));
  auto& condition = *pod->mutable_status()->add_conditions();
  condition.set_type("PodResizePending");
  condition.set_reason("Infeasible");
  CHECK(pod_requests(*pod).memory == 0);
  condition.set_reason("Deferred");
  (*status.mutable_resources()->mutable_requests())["cpu"].set_string("100m");
  CHECK(have_equal_requests(before, *pod));
}

TEST_CASE("an unknown profile or plugin is refused by name") {
  CHECK(built_in_profile("tomorrow").error().find("choose today or 2014") != std::string::npos);
  auto wrong = *built_in_profile("2014");
  wrong.plugins.push_back({"Magic", 1});
  const auto made = profile::make(wrong);
  REQUIRE_FALSE(made);
  CHECK(made.error().find("\"Magic\"") != std::string::npos);
  CHECK(made.error().find("NodePorts") != std::string::npos);
}

TEST_CASE("the scheduler alone places 10,000 pods on 5,000 nodes", "[.bench]") {
  bench b;
  for (int i = 0; i < 5'000; ++i)
    b.node(make_node("n" + std::to_string(i), "{}", "{}", "4", "32Gi"));
  std::vector<pod_info_ptr> pods;
  for (int i = 0; i < 10'000; ++i)
    pods.push_back(make_request("p" + std::to_string(i), "500m", "500Mi"));
  const auto start = test::cpu_seconds();
  for (const auto& pod : pods)
    b.view.assume(pod, *b.chooser.schedule(pod, b.view, b.random));
  WARN(static_cast<int>(10'000 / (test::cpu_seconds() - start)) << " pods/s of one core");
}

TEST_CASE("of equal pods the one that has not started is preempted first", "[scheduler]") {
  bench b;
  b.node(make_node("one", "{}", "{}", "2", "8Gi"));
  const auto bind = [&](const std::string& name, const std::string& status) {
    b.bound(read_pod_info(parse<api::core::v1::Pod>(
                "metadata: {name: " + name + ", namespace: a, uid: " + name +
                "}\nspec: {nodeName: one, containers: [{name: c, resources: {requests: {cpu: "
                "\"1\"}}}]}\nstatus: " +
                status + "\n")),
            "one");
  };
  bind("new", "{}");
  bind("old", "{startTime: \"2026-01-01T00:00:00Z\"}");
  const auto refused = b.chooser.schedule(make_request("p", "1", "1Mi", 50), b.view, b.random);
  REQUIRE_FALSE(refused);
  const auto& victims = refused.error().make_room.victims;
  REQUIRE(victims.size() == 1);
  CHECK(victims[0]->pod->meta().name() == "new");
}

}  // namespace troupe::actors::scheduler
