// KubeSchedulerConfiguration: accepted fields, their results, and refusals with their
// messages.
#include "actors/scheduler/configuration/configuration.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "actors/scheduler/configuration/upstream_plugins.hpp"
#include "support/seeds.hpp"

namespace troupe::actors::scheduler {

namespace {

const std::string head =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

configuration taken(const std::string& rest) {
  auto parsed = parse_configuration(head + rest);
  if (!parsed) FAIL(parsed.error().front());
  for (const auto& each : parsed->profiles)
    REQUIRE(profile::make(each));
  return *parsed;
}

std::vector<std::string> refused(const std::string& rest) {
  const auto parsed = parse_configuration(head + rest);
  return parsed ? std::vector<std::string>{} : parsed.error();
}

std::vector<std::string> refused_plugins(const std::string& sets) {
  return refused("profiles: [{plugins: {" + sets + "}}]");
}

std::vector<std::string> refused_arguments(const std::string& plugin, const std::string& args) {
  return refused("profiles: [{pluginConfig: [{name: " + plugin + ", args: " + args + "}]}]");
}

using lines = std::vector<std::string>;

// The plugins of a profile at one point, in order, with their weights.
std::vector<std::pair<std::string, std::int64_t>> at(const profile_options& of,
                                                     extension_point point) {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (const auto& each : of.plugins)
    if ((each.points & point) != 0) result.emplace_back(each.name, each.weight);
  return result;
}

lines names_at(const profile_options& of, extension_point point) {
  lines names;
  for (const auto& [name, weight] : at(of, point))
    if ((points_of(name) & point) != 0) names.push_back(name);
  return names;
}

// The output of upstream's --write-config-to, without plugins that this program does not have.
const std::string dumped = R"(clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: /etc/kubernetes/scheduler.conf
  qps: 50
enableContentionProfiling: true
enableProfiling: true
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: kube-scheduler
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- pluginConfig:
  - {name: DefaultPreemption, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: DefaultPreemptionArgs, minCandidateNodesAbsolute: 100, minCandidateNodesPercentage: 10}}
  - {name: InterPodAffinity, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: InterPodAffinityArgs, hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false}}
  - {name: NodeAffinity, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeAffinityArgs}}
  - {name: NodeResourcesBalancedAllocation, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesBalancedAllocationArgs, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
  - {name: NodeResourcesFit, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesFitArgs, scoringStrategy: {resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}], type: LeastAllocated}}}
  - {name: PodTopologySpread, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: PodTopologySpreadArgs, defaultingType: System}}
  - {name: VolumeBinding, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: VolumeBindingArgs, bindTimeoutSeconds: 600}}
  plugins:
    bind: {}
    filter: {}
    multiPoint:
      enabled:
      - {name: SchedulingGates, weight: 0}
      - {name: PrioritySort, weight: 0}
      - {name: NodeUnschedulable, weight: 0}
      - {name: NodeName, weight: 0}
      - {name: TaintToleration, weight: 3}
      - {name: NodeAffinity, weight: 2}
      - {name: NodePorts, weight: 0}
      - {name: NodeResourcesFit, weight: 1}
      - {name: VolumeRestrictions, weight: 0}
      - {name: NodeVolumeLimits, weight: 0}
      - {name: VolumeBinding, weight: 0}
      - {name: VolumeZone, weight: 0}
      - {name: PodTopologySpread, weight: 2}
      - {name: InterPodAffinity, weight: 2}
      - {name: DefaultPreemption, weight: 0}
      - {name: NodeResourcesBalancedAllocation, weight: 1}
      - {name: ImageLocality, weight: 1}
      - {name: DefaultBinder, weight: 0}
    permit: {}
    queueSort: {}
  schedulerName: default-scheduler
)";

}  // namespace

TEST_CASE("upstream's own defaults as a file come to the profile without a file",
          "[scheduler][scheduler-config]") {
  const auto plain = *built_in_profile("today");
  for (const auto& text : {dumped, std::string{}, std::string{"profiles: [{}]"}}) {
    const auto parsed = taken(text);
    REQUIRE(parsed.profiles.size() == 1);
    const auto& profile = parsed.profiles.front();
    CHECK(profile.scheduler_name == "default-scheduler");
    CHECK(profile.backoff_first == plain.backoff_first);
    CHECK(profile.backoff_longest == plain.backoff_longest);
    CHECK(profile.percent_of_nodes == plain.percent_of_nodes);
    REQUIRE(profile.plugins.size() == plain.plugins.size());
    for (std::size_t i = 0; i < plain.plugins.size(); ++i) {
      CHECK(profile.plugins[i].name == plain.plugins[i].name);
      CHECK(profile.plugins[i].points == points_of(plain.plugins[i].name));
      if ((profile.plugins[i].points & at_score) != 0)
        CHECK(profile.plugins[i].weight == plain.plugins[i].weight);
    }
  }
  CHECK(taken(dumped).ignored == lines{"parallelism", "leaderElection", "clientConnection",
                                       "enableProfiling", "enableContentionProfiling"});
  CHECK(taken("").ignored.empty());
}

TEST_CASE("profiles have their own names, plugins and arguments, and share the back-off",
          "[scheduler][scheduler-config]") {
  const auto parsed = taken(R"(
percentageOfNodesToScore: 40
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 30
profiles:
- plugins: {score: {disabled: [{name: NodeResourcesFit}]}}
- schedulerName: packer
  percentageOfNodesToScore: 100
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/x], ignoredResourceGroups: [example.org], scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 3}, {name: memory}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}}
  - {name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 7}}
  - {name: VolumeBinding, args: {bindTimeoutSeconds: 30}}
  - {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}
  - {name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}}
)");
  REQUIRE(parsed.profiles.size() == 2);
  const auto &first = parsed.profiles[0], &second = parsed.profiles[1];
  CHECK(first.scheduler_name == "default-scheduler");
  CHECK(first.percent_of_nodes == 40);
  CHECK(first.arguments.strategy == scoring_strategy::least_allocated);
  CHECK(first.arguments.hard_pod_affinity_weight == 1);
  CHECK_FALSE(first.arguments.default_constraints);
  CHECK_FALSE(first.arguments.added_affinity.has_required);
  CHECK(second.scheduler_name == "packer");
  CHECK(second.percent_of_nodes == 100);
  for (const auto& each : parsed.profiles) {
    CHECK(each.backoff_first == std::chrono::seconds{2});
    CHECK(each.backoff_longest == std::chrono::seconds{30});
  }
  const auto& arguments = second.arguments;
  CHECK(arguments.strategy == scoring_strategy::by_utilization);
  CHECK(arguments.scored_resources.at(0).weight == 3);
  CHECK(arguments.scored_resources.at(1).weight == 1);
  CHECK(arguments.shape.at(1).score == max_score);
  CHECK(arguments.ignored_resources == lines{"example.com/x"});
  CHECK(arguments.ignored_resource_groups == lines{"example.org"});
  CHECK(arguments.hard_pod_affinity_weight == 0);
  CHECK(arguments.ignore_preferred_terms_of_existing_pods);
  CHECK(arguments.min_candidates == 7);
  CHECK(arguments.min_candidates_percent == 0);
  CHECK(first.arguments.volume_timeout == std::chrono::seconds{600});
  CHECK(arguments.volume_timeout == std::chrono::seconds{30});
  CHECK(arguments.default_constraints.value().at(0).topology_key == "zone");
  CHECK(arguments.added_affinity.has_required);
}

TEST_CASE("plugins are switched on and off at one point or at all, in upstream's order",
          "[scheduler][scheduler-config]") {
  const auto plugins = [](const std::string& sets) {
    return taken("profiles: [{plugins: {" + sets + "}}]").profiles.front();
  };
  auto one = plugins("score: {disabled: [{name: TaintToleration}]}");
  CHECK(names_at(one, at_score) == lines{"NodeAffinity", "NodeResourcesFit", "VolumeBinding",
                                         "PodTopologySpread", "InterPodAffinity",
                                         "NodeResourcesBalancedAllocation", "ImageLocality"});
  CHECK(names_at(one, at_filter).at(2) == "TaintToleration");

  one = plugins("score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 5}]}");
  CHECK(at(one, at_score) ==
        std::vector<std::pair<std::string, std::int64_t>>{{"NodeResourcesFit", 5}});

  one = plugins("filter: {enabled: [{name: NodePorts}, {name: NodeName}]}");
  CHECK(names_at(one, at_filter) == lines{"NodePorts", "NodeName", "NodeUnschedulable",
                                          "TaintToleration", "NodeAffinity", "NodeResourcesFit",
                                          "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
                                          "VolumeZone", "PodTopologySpread", "InterPodAffinity"});
  CHECK(names_at(one, at_pre_filter).at(0) == "NodeAffinity");

  one = plugins(
      "multiPoint: {disabled: [{name: InterPodAffinity}], "
      "enabled: [{name: TaintToleration, weight: 9}]}");
  CHECK(at(one, at_score).front() == std::pair<std::string, std::int64_t>{"TaintToleration", 9});
  CHECK_FALSE(std::count_if(one.plugins.begin(), one.plugins.end(),
                            [](const auto& each) { return each.name == "InterPodAffinity"; }));

  one = plugins(
      "multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
      "{name: NodeResourcesFit}, {name: DefaultBinder}]}, "
      "score: {disabled: [{name: NodeResourcesFit}]}");
  CHECK(names_at(one, at_filter) == lines{"NodeResourcesFit"});
  CHECK(names_at(one, at_score).empty());
  CHECK(one.plugins.size() == 2);

  // Upstream plugins that do not exist here are disabled anyway.
  plugins("multiPoint: {disabled: [{name: DynamicResources}]}");
}

TEST_CASE("settings that cannot be honoured are refused with their path",
          "[scheduler][scheduler-config]") {
  CHECK(refused("profiels: []") == lines{"profiels: unknown field; did you mean profiles?"});
  CHECK(refused("profiles: [{}, {plugins: {filtre: {}}}]") ==
        lines{"profiles[1].plugins.filtre: unknown field; did you mean filter?"});
  CHECK(refused("parallelism: 1\nparallelism: 2") == lines{"parallelism: duplicate field"});
  CHECK(
      refused("percentageOfNodesToScore: 101") ==
      lines{"percentageOfNodesToScore: Invalid value: 101: must be between 0 and 100, inclusive"});
  CHECK(refused("podInitialBackoffSeconds: 20") ==
        lines{"podMaxBackoffSeconds: must not be less than podInitialBackoffSeconds"});
  CHECK(refused("podInitialBackoffSeconds: 0").size() == 1);
  CHECK(refused("extenders: [{urlPrefix: 'http://127.0.0.1:8000'}]")
            .front()
            .starts_with("extenders: services that are asked about nodes are not supported"));
  CHECK(refused("profiles: [{schedulerName: a}, {schedulerName: a}]") ==
        lines{"profiles[1].schedulerName: another profile has the name a already"});
  CHECK(refused("profiles: [{schedulerName: A_b}]")
            .front()
            .starts_with("profiles[0].schedulerName: "));
  CHECK(
      refused_plugins("filter: {enabled: [{name: NodePort}]}") ==
      lines{"profiles[0].plugins.filter.enabled[0].name: there is no plugin \"NodePort\"; did you "
            "mean NodePorts?"});
  CHECK(refused_plugins("score: {disabled: [{name: Nonsense}]}") ==
        lines{"profiles[0].plugins.score.disabled[0].name: there is no plugin \"Nonsense\""});
  CHECK(refused_plugins("multiPoint: {enabled: [{name: DynamicResources}]}") ==
        lines{"profiles[0].plugins.multiPoint.enabled[0].name: plugin DynamicResources of upstream "
              "is not part of this program"});
  CHECK(refused_plugins("bind: {enabled: [{name: NodePorts}]}") ==
        lines{"profiles[0].plugins.bind.enabled[0].name: plugin NodePorts has no extension point "
              "bind"});
  CHECK(refused_plugins("filter: {enabled: [{name: NodePorts}, {name: NodePorts}]}") ==
        lines{"profiles[0].plugins.filter.enabled[1].name: plugin NodePorts is listed twice"});
  CHECK(refused_plugins("queueSort: {disabled: [{name: '*'}]}") ==
        lines{"profiles[0].plugins.queueSort: exactly one plugin must be on, not 0"});
  CHECK(refused_plugins("multiPoint: {disabled: [{name: DefaultBinder}]}") ==
        lines{"profiles[0].plugins.bind: DefaultBinder cannot be off: it binds the pods that no "
              "other plugin does"});
  CHECK(refused_plugins("preFilter: {disabled: [{name: NodePorts}]}") ==
        lines{"profiles[0].plugins: plugin NodePorts is enabled at filter but disabled at "
              "preFilter, whose results it needs: enable both or disable both"});
}

TEST_CASE("wrong arguments of plugins are refused with their path",
          "[scheduler][scheduler-config]") {
  const auto arguments = [](const std::string& plugin, const std::string& args) {
    return refused_arguments(plugin, args);
  };
  CHECK(arguments("NodeResourcesFit", "{scoringStrategy: {typ: x}}") ==
        lines{"profiles[0].pluginConfig[0].args.scoringStrategy.typ: unknown field; did you mean "
              "type?"});
  CHECK(arguments("NodeResourcesFit", "{scoringStrategy: {type: Best}}") ==
        lines{"profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: \"Best\": "
              "supported values: \"LeastAllocated\", \"MostAllocated\", "
              "\"RequestedToCapacityRatio\""});
  CHECK(arguments("NodeResourcesFit", "{kind: NodeAffinityArgs}") ==
        lines{"profiles[0].pluginConfig[0].args.kind: is NodeAffinityArgs, must be "
              "NodeResourcesFitArgs"});
  CHECK(arguments("NodeResourcesFit", "{apiVersion: kubescheduler.config.k8s.io/v1beta3}").size() ==
        1);
  CHECK(
      arguments("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}").size() ==
      1);
  CHECK(arguments("NodeResourcesFit",
                  "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
                  "{shape: [{utilization: 9, score: 1}, {utilization: 9, score: 2}]}}}")
            .size() == 1);
  CHECK(arguments("NodeResourcesFit", "{scoringStrategy: {resources: [{name: cpu, weight: 101}]}}")
            .size() == 1);
  CHECK(arguments("NodeResourcesFit", "{ignoredResourceGroups: [a.b/c]}").size() == 1);
  CHECK(arguments("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}")
            .size() == 1);
  CHECK(arguments("InterPodAffinity", "{hardPodAffinityWeight: 101}").size() == 1);
  CHECK(arguments("DefaultPreemption",
                  "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}")
            .size() == 1);
  CHECK(arguments("PodTopologySpread",
                  "{defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: "
                  "ScheduleAnyway}]}") ==
        lines{"profiles[0].pluginConfig[0].args.defaultConstraints: must be empty with the "
              "defaultingType System"});
  CHECK(arguments("PodTopologySpread",
                  "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, "
                  "whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]}")
            .size() == 1);
  CHECK(arguments("NodeAffinity",
                  "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                  "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}")
            .front()
            .starts_with("profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringScheduling"
                         "IgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values"));
  CHECK(arguments("VolumeBinding", "{bindTimeoutSeconds: -1}").size() == 1);
  CHECK(arguments("VolumeBinding", "{shape: [{utilization: 0, score: 0}]}") ==
        lines{"profiles[0].pluginConfig[0].args.shape: scores of volumes are not supported"});
  CHECK(arguments("NodePorts", "{}") ==
        lines{"profiles[0].pluginConfig[0].args: plugin NodePorts has no arguments"});
  CHECK(arguments("NodePort", "{}").size() == 1);
}

TEST_CASE("a file of another version or kind says which is wanted", "[scheduler-config]") {
  CHECK(parse_configuration("apiVersion: kubescheduler.config.k8s.io/v1beta3\n"
                            "kind: KubeSchedulerConfiguration\n")
            .error() == lines{"apiVersion: is kubescheduler.config.k8s.io/v1beta3, must be "
                              "kubescheduler.config.k8s.io/v1"});
  CHECK(parse_configuration("{}").error().size() == 2);
  CHECK(parse_configuration("").error().size() == 2);
  CHECK(parse_configuration("a: [").error().size() == 1);
  std::string many = head + "profiles:\n";
  for (int i = 0; i < 65; ++i)
    many += "- schedulerName: s" + std::to_string(i) + "\n";
  CHECK(parse_configuration(many).error() == lines{"profiles: there may be 64 at most"});
}

TEST_CASE("any switching of plugins is honoured at each point or refused",
          "[scheduler][scheduler-config]") {
  const std::map<std::string, extension_point> points{
      {"filter", at_filter}, {"score", at_score}, {"postFilter", at_post_filter}};
  const auto all = plugin_names();
  const auto today = *built_in_profile("today");
  std::set<std::string> defaults;
  for (const auto& each : today.plugins)
    defaults.insert(each.name);
  int honoured = 0;
  test::for_each_seed(400, [&](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::map<std::string, std::set<std::string>> on, off;
    std::string sets;
    for (const auto& [point, bit] : points) {
      std::string enabled, disabled;
      for (const auto& name : all) {
        if ((points_of(name) & bit) == 0) continue;
        if (random() % 5 == 0 && is_available(name) && on[point].insert(name).second)
          enabled += "{name: " + name + "}, ";
        if (random() % 5 == 0 && off[point].insert(name).second)
          disabled += "{name: " + name + "}, ";
      }
      sets += point + ": {enabled: [" + enabled + "], disabled: [" + disabled + "]}, ";
    }
    INFO(sets);
    const auto parsed = parse_configuration(head + "profiles: [{plugins: {" + sets + "}}]");
    if (!parsed) return;
    ++honoured;
    const auto& profile = parsed->profiles.front();
    REQUIRE(profile::make(profile));
    for (const auto& [point, bit] : points) {
      const auto found = names_at(profile, bit);
      const std::set<std::string> seen{found.begin(), found.end()};
      CHECK(seen.size() == found.size());
      for (const auto& name : all) {
        const bool by_default = defaults.contains(name) && (points_of(name) & bit) != 0;
        const bool wanted = on[point].contains(name) || (by_default && !off[point].contains(name));
        INFO(point << ' ' << name);
        CHECK(seen.contains(name) == wanted);
      }
    }
  });
  if (std::getenv("TROUPE_SEED") == nullptr) CHECK(honoured > 50);
}

TEST_CASE("a damaged file is accepted or refused with a message, for any damage",
          "[scheduler-config]") {
  const auto whole = head + dumped;
  int refusals = 0;
  test::for_each_seed(300, [&](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    auto text = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto place = random() % text.size();
      const auto kind = random() % 3;
      if (kind == 0) text.erase(place, 1 + random() % 8);
      if (kind == 1) text[place] = static_cast<char>(random() % 256);
      if (kind == 2) text.insert(place, text.substr(random() % text.size(), random() % 30));
    }
    const auto parsed = parse_configuration(text);
    if (parsed) {
      CHECK_FALSE(parsed->profiles.empty());
      for (const auto& each : parsed->profiles)
        CHECK(profile::make(each));
    } else {
      ++refusals;
      REQUIRE_FALSE(parsed.error().empty());
      for (const auto& problem : parsed.error())
        CHECK_FALSE(problem.empty());
    }
  });
  if (std::getenv("TROUPE_SEED") == nullptr) CHECK(refusals > 100);
}

}  // namespace troupe::actors::scheduler
