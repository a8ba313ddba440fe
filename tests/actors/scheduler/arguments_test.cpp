// Effects of plugin arguments on the choice of a node.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "actors/scheduler/algorithm.hpp"
#include "actors/scheduler/configuration/configuration.hpp"
#include "builders.hpp"

namespace troupe::actors::scheduler {

namespace {

struct bench {
  // `plugins` and `arguments` as in the configuration of a profile.
  explicit bench(const std::string& plugins, const std::string& arguments = {}) {
    auto parsed = parse_configuration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {" +
        plugins + "}, pluginConfig: [" + arguments + "]}]");
    if (!parsed) throw std::invalid_argument{parsed.error().front()};
    with = *profile::make(parsed->profiles.front());
    chooser.emplace(*with);
  }

  std::unique_ptr<profile> with;
  std::optional<algorithm> chooser;
  cluster_view view;
  std::mt19937_64 random{909};

  void node(const api::object_ptr& node) { view.put_node(node); }
  void bound(const pod_info_ptr& pod, const std::string& node) { view.put_pod(pod, node); }
  std::string place(const pod_info_ptr& pod) {
    auto found = chooser->schedule(pod, view, random);
    return found ? *found : found.error().message.substr(0, found.error().message.find(" preempt"));
  }
};

std::string only_score(const std::string& plugin) {
  return "score: {disabled: [{name: '*'}], enabled: [{name: " + plugin + "}]}";
}

std::string fit(const std::string& args) {
  return "{name: NodeResourcesFit, args: " + args + "}";
}

}  // namespace

TEST_CASE("the scoring strategy says whether full or empty nodes are taken first",
          "[scheduler][scheduler-config]") {
  const auto place = [](const std::string& args) {
    bench b{only_score("NodeResourcesFit"), fit(args)};
    for (const char* name : {"empty", "half", "used"})
      b.node(make_node(name, "{}", "{}", "10", "10Gi"));
    b.bound(make_request("h", "5", "5Gi"), "half");
    b.bound(make_request("u", "8", "8Gi"), "used");
    return b.place(make_request("p", "1", "1Gi"));
  };
  CHECK(place("{}") == "empty");
  CHECK(place("{scoringStrategy: {type: MostAllocated}}") == "used");
  const auto shape = [&](const std::string& points) {
    return place(
        "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
        "{shape: [" +
        points + "]}}}");
  };
  CHECK(shape("{utilization: 0, score: 0}, {utilization: 100, score: 10}") == "used");
  CHECK(shape("{utilization: 0, score: 10}, {utilization: 100, score: 0}") == "empty");
  CHECK(shape("{utilization: 20, score: 0}, {utilization: 60, score: 10}, "
              "{utilization: 80, score: 0}") == "half");
}

TEST_CASE("the resources of the strategy count by their weights", "[scheduler][scheduler-config]") {
  const auto place = [](const std::string& resources) {
    bench b{only_score("NodeResourcesFit"),
            fit("{scoringStrategy: {resources: [" + resources + "]}}")};
    b.node(make_node("much-cpu", "{}", "{}", "16", "4Gi"));
    b.node(make_node("much-memory", "{}", "{}", "4", "16Gi"));
    return b.place(make_request("p", "2", "2Gi"));
  };
  CHECK(place("{name: cpu, weight: 1}") == "much-cpu");
  CHECK(place("{name: memory, weight: 1}") == "much-memory");
  CHECK(place("{name: cpu, weight: 3}, {name: memory, weight: 1}") == "much-cpu");
  CHECK(place("{name: cpu, weight: 1}, {name: memory, weight: 3}") == "much-memory");
}

TEST_CASE("an extended resource that is ignored need not be there",
          "[scheduler][scheduler-config]") {
  const auto place = [](const std::string& args) {
    bench b{"", fit(args)};
    b.node(make_node("n"));
    return b.place(make_pod("p",
                            "{containers: [{name: c, resources: {requests: "
                            "{example.com/gpu: 1}}}]}"));
  };
  CHECK(place("{}") == "0/1 nodes are available: 1 Insufficient example.com/gpu.");
  CHECK(place("{ignoredResources: [example.com/gpu]}") == "n");
  CHECK(place("{ignoredResourceGroups: [example.com]}") == "n");
  CHECK(place("{ignoredResourceGroups: [example.co]}") != "n");
}

TEST_CASE("three resources are balanced by the spread of their shares",
          "[scheduler][scheduler-config]") {
  bench b{only_score("NodeResourcesBalancedAllocation"),
          "{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: 1}, "
          "{name: memory, weight: 1}, {name: ephemeral-storage, weight: 1}]}}"};
  const auto node = [](const std::string& name, const std::string& disk) {
    return parse<api::core::v1::Node>("metadata: {name: " + name +
                                      "}\nstatus: {allocatable: {cpu: 4, memory: 4Gi, pods: 9, "
                                      "ephemeral-storage: " +
                                      disk + "}}");
  };
  b.node(node("even", "4Gi"));
  b.node(node("uneven", "100Gi"));
  CHECK(b.place(make_pod("p",
                         "{containers: [{name: c, resources: {requests: {cpu: 2, memory: 2Gi, "
                         "ephemeral-storage: 2Gi}}}]}")) == "even");
}

TEST_CASE("a pod without requests is placed regardless of the balance of the nodes",
          "[scheduler][scheduler-config]") {
  bench b{only_score("NodeResourcesBalancedAllocation")};
  b.node(make_node("even"));
  b.node(make_node("uneven"));
  b.bound(make_request("u", "2", "1Gi"), "uneven");
  std::set<std::string> taken;
  for (int i = 0; i < 100; ++i)
    taken.insert(b.place(make_pod("p")));
  CHECK(taken == std::set<std::string>{"even", "uneven"});
  CHECK(b.place(make_request("q", "1", "2Gi")) == "even");
}

TEST_CASE("the affinity that the configuration adds holds for all pods",
          "[scheduler][scheduler-config]") {
  const std::string required =
      "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
      "[{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}";
  const auto added = [](const std::string& affinity) {
    return "{name: NodeAffinity, args: {addedAffinity: {" + affinity + "}}}";
  };
  bench b{"", added(required)};
  b.node(make_node("plain"));
  CHECK(b.place(make_pod("p")) ==
        "0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity.");
  b.node(make_node("fast", "{disk: ssd}"));
  CHECK(b.place(make_pod("p")) == "fast");
  CHECK(b.place(make_pod("q", "{nodeSelector: {disk: hdd}}"))
            .find("didn't match Pod's node affinity/selector") != std::string::npos);

  bench preferring{
      only_score("NodeAffinity"),
      added("preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
            "{matchExpressions: [{key: disk, operator: Exists}]}}]")};
  for (const char* name : {"a", "b", "c"})
    preferring.node(make_node(name));
  preferring.node(make_node("fast", "{disk: ssd}"));
  CHECK(preferring.place(make_pod("p")) == "fast");
}

TEST_CASE("required affinity of other pods attracts by its weight, or not at all",
          "[scheduler][scheduler-config]") {
  const auto attracted = [](const std::string& args) {
    int times = 0;
    bench b{only_score("InterPodAffinity"), "{name: InterPodAffinity, args: " + args + "}"};
    b.node(make_node("other", "{kubernetes.io/hostname: other}"));
    b.node(make_node("near", "{kubernetes.io/hostname: near}"));
    b.bound(make_pod("q",
                     "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: "
                     "{app: web}}}]}}}",
                     "{app: web}"),
            "near");
    for (int i = 0; i < 40; ++i)
      if (b.place(make_pod("p" + std::to_string(i), "{}", "{app: web}")) == "near") ++times;
    return times;
  };
  CHECK(attracted("{}") == 40);
  CHECK(attracted("{hardPodAffinityWeight: 0}") < 40);
  CHECK(attracted("{ignorePreferredTermsOfExistingPods: true}") < 40);
}

TEST_CASE("pods of a controller are spread by the constraints of the configuration",
          "[scheduler][scheduler-config]") {
  const auto spread = [](const std::string& args) {
    return "{name: PodTopologySpread, args: {defaultingType: List" + args + "}}";
  };
  bench b{"", spread(", defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
                     "DoNotSchedule}]")};
  b.node(make_node("a", "{zone: a}", "{}", "100", "100Gi"));
  b.node(make_node("b", "{zone: b}", "{}", "1", "1Gi"));
  b.bound(make_replica("r1", "rs"), "a");
  b.bound(make_replica("r2", "rs"), "b");
  b.bound(make_replica("r3", "rs"), "a");
  CHECK(b.place(make_replica("r4", "rs")) == "b");
  b.bound(make_request("full", "400m", "400Mi"), "b");
  CHECK(b.place(make_replica("r4", "rs")).find("didn't match pod topology spread constraints") !=
        std::string::npos);
  CHECK(b.place(make_replica("s1", "another")) == "a");
  CHECK(b.place(make_request("alone", "900m", "1Gi")) == "a");
  // A pod's own constraints replace the defaults.
  CHECK(b.place(make_pod("own",
                         "{topologySpreadConstraints: [{maxSkew: 9, topologyKey: zone, "
                         "whenUnsatisfiable: DoNotSchedule}], containers: [{name: c, "
                         "resources: {requests: {cpu: 1}}}]}")) == "a");

  // Without any, the pods of a controller are not spread.
  bench none{only_score("PodTopologySpread"), spread("")};
  for (const char* name : {"n1", "n2"})
    none.node(make_node(name));
  none.bound(make_replica("r1", "rs"), "n1");
  int beside = 0;
  for (int i = 0; i < 40; ++i)
    if (none.place(make_replica("r", "rs")) == "n1") ++beside;
  CHECK(beside > 0);
}

TEST_CASE("a plugin scores nodes that it does not filter", "[scheduler][scheduler-config]") {
  bench b{
      "preFilter: {disabled: [{name: PodTopologySpread}]}, "
      "filter: {disabled: [{name: PodTopologySpread}, {name: NodeName}]}"};
  b.node(make_node("a", "{zone: a}"));
  b.node(make_node("b", "{zone: b}"));
  const std::string spec =
      "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
      "ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]}";
  b.bound(make_pod("q", spec, "{app: web}"), "a");
  CHECK(b.place(make_pod("p", spec, "{app: web}")) == "b");
}

}  // namespace troupe::actors::scheduler
