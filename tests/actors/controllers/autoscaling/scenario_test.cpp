// Autoscalers in a simulated cluster whose pods have the usage of their annotations, while actors
// crash, messages are late and transactions conflict.
#include <catch2/catch.hpp>
#include <set>

#include "actors/core/condition.hpp"
#include "actors/core/metric_questions.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_event.pb.h"
#include "autoscaling_fixture.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::find_condition;
using api::apps::v1::Deployment;
using api::autoscaling::v2::HorizontalPodAutoscaler;
using api::core::v1::Event;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* load = "simulation.troupe.dev/cpu-load";

Deployment loaded(const std::string& cores) {
  auto made = deployment("web", 1, "web:1");
  (*made.mutable_metadata()->mutable_annotations())[load] = cores;
  auto& container =
      *made.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0);
  (*container.mutable_resources()->mutable_requests())["cpu"].set_string("500m");
  return made;
}

struct stage {
  explicit stage(std::uint64_t seed, cluster_options options = {}) : c{seed, options} {
    actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), {.nodes = 3});
  }
  int replicas() const { return c.get<Deployment>("default", "web").spec().replicas(); }
  HorizontalPodAutoscaler autoscaler() const {
    return c.get<HorizontalPodAutoscaler>("default", "web");
  }
  std::string condition(const char* type) const {
    const auto now = autoscaler();
    const auto* found = find_condition(now.status().conditions(), type);
    return found == nullptr ? "" : found->status() + " " + found->reason();
  }
  std::set<std::string> told() const {
    std::set<std::string> all;
    for (const auto& each : c.list<Event>())
      if (each->as<Event>().involved_object().kind() == "HorizontalPodAutoscaler")
        all.insert(each->as<Event>().reason() + ": " + each->as<Event>().message());
    return all;
  }
  bool settles_at(int count, minutes limit = minutes{15}) {
    return c.run_until(
        [&] {
          return replicas() == count &&
                 c.get<Deployment>("default", "web").status().ready_replicas() == count;
        },
        limit);
  }

  cluster c;
};

}  // namespace

TEST_CASE("an autoscaler makes as many pods as the load needs, and reports the reason",
          "[autoscaling]") {
  stage s{1};
  s.c.create(loaded("2"));
  s.c.create(autoscaler_of_web(50));
  REQUIRE(s.settles_at(8));
  s.c.advance(minutes{2});
  CHECK(s.replicas() == 8);
  const auto status = s.autoscaler().status();
  CHECK(status.current_replicas() == 8);
  CHECK(status.desired_replicas() == 8);
  CHECK(status.current_metrics(0).resource().current().average_utilization() == 50);
  CHECK(status.current_metrics(0).resource().current().average_value().string() == "250m");
  CHECK(s.condition("ScalingActive") == "True ValidMetricFound");
  CHECK(s.condition("AbleToScale") == "True ReadyForNewScale");
  CHECK(s.condition("ScalingLimited") == "False DesiredWithinRange");
  CHECK(
      s.told().contains("SuccessfulRescale: New size: 4; reason: cpu resource utilization "
                        "(percentage of request) above target"));
  // The load ends, and after the window the pods are removed.
  s.c.change<Deployment>("default", "web", [](Deployment& web) {
    (*web.mutable_metadata()->mutable_annotations())[load] = "100m";
  });
  s.c.advance(minutes{4});
  CHECK(s.replicas() == 8);
  CHECK(s.condition("AbleToScale") == "True ScaleDownStabilized");
  REQUIRE(s.settles_at(1));
  CHECK(s.told().contains("SuccessfulRescale: New size: 1; reason: All metrics below target"));
}

TEST_CASE("an autoscaler reports why it cannot scale", "[autoscaling]") {
  stage s{2};
  s.c.create(autoscaler_of_web(50));
  s.c.advance(seconds{20});
  CHECK(s.condition("AbleToScale") == "False FailedGetScale");
  CHECK(s.told().contains("FailedGetScale: deployments.apps \"web\" not found"));
  // Pods that use nothing are not measured.
  auto web = loaded("nonsense");
  web.mutable_spec()->set_replicas(2);
  s.c.create(web);
  s.c.advance(seconds{40});
  CHECK(s.condition("AbleToScale") == "True SucceededGetScale");
  CHECK(s.condition("ScalingActive") == "False FailedGetResourceMetric");
  CHECK(s.replicas() == 2);
  s.c.change<Deployment>("default", "web",
                         [](Deployment& each) { each.mutable_spec()->set_replicas(0); });
  s.c.advance(seconds{20});
  CHECK(s.condition("ScalingActive") == "False ScalingDisabled");
  s.c.change<Deployment>("default", "web",
                         [](Deployment& each) { each.mutable_spec()->set_replicas(30); });
  s.c.advance(seconds{20});
  CHECK(s.replicas() == 10);
  CHECK(
      s.told().contains("SuccessfulRescale: New size: 10; reason: Current number of replicas above "
                        "Spec.MaxReplicas"));
}

TEST_CASE("two autoscalers of the same pods leave them alone", "[autoscaling]") {
  stage s{3};
  s.c.create(loaded("2"));
  auto other = autoscaler_of_web(50);
  other.mutable_metadata()->set_name("other");
  s.c.create(other);
  s.c.create(autoscaler_of_web(50));
  s.c.advance(minutes{2});
  CHECK(s.condition("ScalingActive") == "False AmbiguousSelector");
  CHECK(
      s.told().contains("AmbiguousSelector: pods by selector app=web are controlled by multiple "
                        "HPAs: [{other default} {web default}]"));
}

TEST_CASE("a second autoscaler of the same pods does not act, and the first stops within a minute",
          "[autoscaling]") {
  stage s{5};
  s.c.create(loaded("2"));
  s.c.create(autoscaler_of_web(50));
  REQUIRE(s.settles_at(8));
  auto other = autoscaler_of_web(10);
  other.mutable_metadata()->set_name("other");
  s.c.create(other);
  s.c.advance(seconds{80});
  CHECK(s.replicas() == 8);
  CHECK(s.condition("ScalingActive") == "False AmbiguousSelector");
  s.c.remove<HorizontalPodAutoscaler>("default", "other");
  s.c.advance(seconds{20});
  CHECK(s.condition("ScalingActive") == "True ValidMetricFound");
}

TEST_CASE("metrics without a server only prevent scaling down", "[autoscaling]") {
  stage s{4};
  s.c.create(loaded("2"));
  auto wanted = autoscaler_of_web(50);
  auto& metric = *wanted.mutable_spec()->add_metrics();
  metric.set_type("External");
  metric.mutable_external()->mutable_metric()->set_name("queue");
  metric.mutable_external()->mutable_target()->set_type("Value");
  metric.mutable_external()->mutable_target()->mutable_value()->set_string("5");
  s.c.create(wanted);
  REQUIRE(s.settles_at(8));
  CHECK(s.told().contains(
      "FailedGetExternalMetric: unable to get external metric default/queue/nil: unable to fetch "
      "metrics from external metrics API: the server could not find the requested resource (get "
      "queue.external.metrics.k8s.io)"));
  s.c.change<Deployment>("default", "web", [](Deployment& web) {
    (*web.mutable_metadata()->mutable_annotations())[load] = "100m";
  });
  s.c.advance(minutes{8});
  CHECK(s.replicas() == 8);
  CHECK(s.condition("ScalingActive") == "False FailedGetExternalMetric");
}

namespace {

// A metrics client whose servers always return the same.
class fake_metrics_client : public runtime::actor {
 public:
  struct figures {
    actors::metric_values answer;
    std::vector<actors::metric_query> asked = {};
  };
  explicit fake_metrics_client(std::shared_ptr<figures> says) : says_{std::move(says)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&fake_metrics_client::on_query_metrics);
    return table;
  }

 private:
  void on_query_metrics(const actors::query_metrics& m,
                        runtime::promise<actors::metrics_result> answer) {
    says_->asked = m.queries;
    answer.deliver({std::vector<actors::metric_values>(m.queries.size(), says_->answer)});
  }
  const std::shared_ptr<figures> says_;
};

std::shared_ptr<fake_metrics_client::figures> start_metrics_client(stage& s,
                                                                   actors::metric_values answer) {
  auto made = std::make_shared<fake_metrics_client::figures>(
      fake_metrics_client::figures{std::move(answer)});
  s.c.simulation().system().spawn(
      {.kind = actors::metrics_client_kind, .name = actors::metrics_client_kind},
      runtime::make<fake_metrics_client>(made));
  return made;
}

HorizontalPodAutoscaler by_queue(const std::string& per_pod) {
  auto wanted = autoscaler_of_web(50);
  wanted.mutable_spec()->clear_metrics();
  auto& metric = *wanted.mutable_spec()->add_metrics();
  metric.set_type("External");
  auto& external = *metric.mutable_external();
  external.mutable_metric()->set_name("queue");
  (*external.mutable_metric()->mutable_selector()->mutable_match_labels())["shard"] = "a";
  external.mutable_target()->set_type("AverageValue");
  external.mutable_target()->mutable_average_value()->set_string(per_pod);
  return wanted;
}

}  // namespace

TEST_CASE("an autoscaler follows a metric from outside up and down", "[autoscaling]") {
  stage s{6};
  const auto client = start_metrics_client(
      s, std::vector<actors::metric_value>{{.milli = 25'000}, {.milli = 10'000}});
  s.c.create(loaded("100m"));
  s.c.create(by_queue("5"));
  REQUIRE(s.settles_at(7));
  s.c.advance(minutes{1});
  CHECK(s.told().contains(
      "SuccessfulRescale: New size: 4; reason: external metric queue(&LabelSelector{MatchLabels:"
      "map[string]string{shard: a,},MatchExpressions:[]LabelSelectorRequirement{},}) above "
      "target"));
  const auto status = s.autoscaler().status();
  CHECK(status.current_metrics(0).type() == "External");
  CHECK(status.current_metrics(0).external().metric().name() == "queue");
  CHECK(status.current_metrics(0).external().current().average_value().string() == "5");
  REQUIRE(client->asked.size() == 1);
  CHECK(client->asked[0].of == actors::metric_query::source::external);
  CHECK(client->asked[0].selector == "shard=a");
  client->answer = std::vector<actors::metric_value>{{.milli = 9'000}};
  s.c.advance(minutes{4});
  CHECK(s.replicas() == 7);
  REQUIRE(s.settles_at(2));
  client->answer =
      tl::make_unexpected(std::string{"no metrics returned from external metrics API"});
  s.c.advance(seconds{20});
  CHECK(s.condition("ScalingActive") == "False FailedGetExternalMetric");
  CHECK(s.replicas() == 2);
}

TEST_CASE("an autoscaler measures its pods where another server serves metrics.k8s.io",
          "[autoscaling]") {
  stage s{7};
  api::apiregistration::v1::APIService service;
  service.mutable_metadata()->set_name("v1beta1.metrics.k8s.io");
  service.mutable_spec()->set_group("metrics.k8s.io");
  service.mutable_spec()->set_version("v1beta1");
  service.mutable_spec()->set_group_priority_minimum(100);
  service.mutable_spec()->set_version_priority(100);
  service.mutable_spec()->mutable_service()->set_namespace_("kube-system");
  service.mutable_spec()->mutable_service()->set_name("metrics-server");
  s.c.create(service);
  const auto client = start_metrics_client(s, tl::make_unexpected(std::string{"down"}));
  s.c.create(loaded("2"));
  s.c.create(autoscaler_of_web(50));
  // The usage of the nodes is ignored.
  s.c.advance(minutes{2});
  CHECK(s.replicas() == 1);
  CHECK(s.condition("ScalingActive") == "False FailedGetResourceMetric");
  REQUIRE(client->asked.size() == 1);
  CHECK(client->asked[0].of == actors::metric_query::source::usage);
  CHECK(client->asked[0].pods == "app=web");
  s.c.remove<api::apiregistration::v1::APIService>("", "v1beta1.metrics.k8s.io");
  REQUIRE(s.settles_at(8));
}

TEST_CASE("an autoscaler never oscillates on a constant load, whatever crashes",
          "[autoscaling][seeds]") {
  for_each_seed(10, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.1;
    options.far = seed % 2 == 0;
    stage s{seed, options};
    s.c.simulation().faults({.crash = 0.002, .delay = 0.1, .may_crash = {}});
    s.c.create(loaded("2"));
    s.c.create(autoscaler_of_web(50));
    int seen = 1;
    const auto rises = [&] {
      const int now = s.replicas();
      CHECK(now >= seen);
      CHECK(now <= 8);
      seen = now;
      return now == 8;
    };
    REQUIRE(s.c.run_until(rises, minutes{10}));
    for (int i = 0; i < 60; ++i) {
      s.c.advance(seconds{10});
      CHECK(s.replicas() == 8);
    }
  });
}

}  // namespace troupe::test
