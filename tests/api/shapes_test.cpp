// Kinds that serve the objects of another kind.
#include "api/conversion/shapes.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/manifests.hpp"
#include "api/removed/discovery_v1beta1.pb.h"
#include "api/removed/policy_v1beta1.pb.h"
#include "api/removed_versions.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/schema/events_v1.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "support/random_message.hpp"

using namespace troupe;
using namespace troupe::api;
using google::protobuf::util::MessageDifferencer;

namespace {

using new_scaler = autoscaling::v2::HorizontalPodAutoscaler;
using old_scaler = autoscaling::v1::HorizontalPodAutoscaler;

object_ptr object_of(const kind_info& kind, const body& content) {
  std::unique_ptr<body> copy(content.New());
  copy->CopyFrom(content);
  return std::make_shared<const object>(kind, std::move(copy), 7);
}

using old_budget = policy::v1beta1::PodDisruptionBudget;
using old_slice = discovery::v1beta1::EndpointSlice;
using discovery::v1::EndpointSlice;
using policy::v1::PodDisruptionBudget;

template <class T>
T from_json(std::string_view text) {
  T made;
  REQUIRE(decode_into(text, media::json, made));
  return made;
}

template <class Shape>
Shape shown(const body& home) {
  const auto& shape = kind_of<Shape>();
  return convert_from_home(shape, object_of(home_of(shape), home))->template as<Shape>();
}

template <class Home, class Shape>
Home taken(const Shape& written) {
  const auto home = convert_to_home(kind_of<Shape>(), std::make_unique<Shape>(written), nullptr);
  return static_cast<const Home&>(*home);
}

}  // namespace

TEST_CASE("an event is the same event by either name") {
  const auto& home = kind_of<core::v1::Event>();
  const auto& shape = kind_of<events::v1::Event>();
  CHECK(&home_of(shape) == &home);
  CHECK(&home_of(home) == &home);
  CHECK_FALSE(shape.stored());
  CHECK(shape.key("a", "b") == home.key("a", "b"));
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const auto content = random_object(home, static_cast<std::uint64_t>(seed));
    const auto shown = convert_from_home(shape, object_of(home, *content));
    REQUIRE(&shown->kind() == &shape);
    std::unique_ptr<body> copy(shown->content().New());
    copy->CopyFrom(shown->content());
    const auto back = convert_to_home(shape, std::move(copy), nullptr);
    meta_of(*back) = meta_of(*content);
    REQUIRE(MessageDifferencer::Equals(*back, *content));
  }
}

TEST_CASE("an event is selected by its newer names") {
  const auto& shape = kind_of<events::v1::Event>();
  core::v1::Event event;
  event.mutable_involved_object()->set_name("web");
  event.set_reporting_component("kubelet");
  const auto selects = [&](std::string_view text) {
    const auto selector = field_selector::parse(shape, text);
    REQUIRE(selector);
    return selector->matches(event);
  };
  CHECK(selects("regarding.name=web"));
  CHECK_FALSE(selects("regarding.name=db"));
  CHECK(selects("reportingController=kubelet,regarding.kind!=Pod"));
  CHECK_FALSE(field_selector::parse(shape, "involvedObject.name=web"));
}

TEST_CASE("an autoscaler keeps fields that its older version cannot express") {
  const auto home = test::from_yaml<new_scaler>(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n"
      "spec: {scaleTargetRef: {kind: Deployment, name: d}, maxReplicas: 3, metrics: [{type: "
      "Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}, "
      "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: "
      "70}}}], behavior: {scaleDown: {selectPolicy: Disabled}}}\n");
  const auto shown =
      convert_from_home(kind_of<old_scaler>(), object_of(kind_of<new_scaler>(), home));
  CHECK(shown->as<old_scaler>().spec().target_cpu_utilization_percentage() == 70);
  CHECK(shown->as<old_scaler>().spec().max_replicas() == 3);

  auto changed = std::make_unique<old_scaler>(shown->as<old_scaler>());
  changed->mutable_spec()->set_target_cpu_utilization_percentage(60);
  changed->mutable_spec()->set_max_replicas(9);
  const auto back = convert_to_home(kind_of<old_scaler>(), std::move(changed), &home);
  auto expected = home;
  meta_of(expected).set_resource_version("7");  // as every object that was read has one
  expected.mutable_spec()->set_max_replicas(9);
  expected.mutable_spec()
      ->mutable_metrics(1)
      ->mutable_resource()
      ->mutable_target()
      ->set_average_utilization(60);
  CHECK(same_meaning(*back, expected));
}

TEST_CASE("an autoscaler is unchanged where its older shape comes back unchanged") {
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const auto content = random_object(kind_of<new_scaler>(), static_cast<std::uint64_t>(seed));
    auto& scaler = static_cast<new_scaler&>(*content);
    scaler.mutable_spec();
    const auto shown =
        convert_from_home(kind_of<old_scaler>(), object_of(kind_of<new_scaler>(), scaler));
    auto copy = std::make_unique<old_scaler>(shown->as<old_scaler>());
    const auto back = convert_to_home(kind_of<old_scaler>(), std::move(copy), &scaler);
    scaler.mutable_metadata()->set_resource_version("7");
    INFO(scaler.ShortDebugString() << "\n" << back->ShortDebugString());
    REQUIRE(same_meaning(*back, scaler));
  }
}

TEST_CASE("what autoscaling/v1 cannot say of an autoscaler is in annotations, as upstream") {
  const auto home = test::from_yaml<new_scaler>(R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: x}
spec:
  scaleTargetRef: {kind: Deployment, name: d}
  maxReplicas: 3
  metrics:
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: c,
      target: {type: Utilization, averageUtilization: 50}}}
  - {type: Pods, pods: {metric: {name: p, selector: {matchLabels: {a: b}}},
      target: {type: AverageValue, averageValue: "5"}}}
  - {type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: o},
      target: {type: Value, value: "7"}}}
  - {type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: o},
      target: {type: AverageValue, averageValue: "8"}}}
  - {type: External, external: {metric: {name: e, selector: {matchLabels: {a: b}}},
      target: {type: Value, value: "9"}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
  behavior: {scaleDown: {selectPolicy: Disabled, policies: [{type: Pods, value: 1,
      periodSeconds: 15}]}}
status:
  currentReplicas: 1
  conditions: [{type: AbleToScale, status: "True", lastTransitionTime: 2024-01-01T00:00:00Z}]
  currentMetrics:
  - {type: Resource, resource: {name: cpu, current: {averageUtilization: 5, averageValue: 20m}}}
  - {type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: o},
      current: {value: "6"}}}
)");
  const auto shown =
      convert_from_home(kind_of<old_scaler>(), object_of(kind_of<new_scaler>(), home));
  const auto& annotations = shown->meta().annotations();
  const std::string prefix = "autoscaling.alpha.kubernetes.io/";
  REQUIRE(annotations.size() == 4);
  CHECK_THAT(annotations.at(prefix + "metrics"),
             Catch::Contains(R"("targetAverageValue":"1Gi")") &&
                 Catch::Contains(R"("targetAverageUtilization":50)") &&
                 Catch::Contains(R"("metricName":"p")") &&
                 Catch::Contains(R"("targetValue":"0")") && !Catch::Contains("70"));
  CHECK_THAT(annotations.at(prefix + "behavior"), Catch::Contains(R"("SelectPolicy":"Disabled")"));
  CHECK_THAT(annotations.at(prefix + "current-metrics"),
             Catch::Contains(R"("currentAverageValue":"20m")"));

  // A client without the old object, as `kubectl replace` after a deletion.
  auto copy = std::make_unique<old_scaler>(shown->as<old_scaler>());
  const auto back = convert_to_home(kind_of<old_scaler>(), std::move(copy), nullptr);
  auto expected = home;
  meta_of(expected).set_resource_version("7");
  INFO(expected.ShortDebugString() << "\n" << back->ShortDebugString());
  CHECK(same_meaning(*back, expected));

  // As the controller of 1.20 reports.
  auto reported = std::make_unique<old_scaler>(shown->as<old_scaler>());
  (*reported->mutable_metadata()->mutable_annotations())[prefix + "conditions"] =
      R"([{"type":"ScalingActive","status":"False","lastTransitionTime":null}])";
  const auto after = convert_to_home(kind_of<old_scaler>(), std::move(reported), &home);
  const auto& status = static_cast<const new_scaler&>(*after).status();
  REQUIRE(status.conditions_size() == 1);
  CHECK(status.conditions(0).type() == "ScalingActive");
  CHECK(meta_of(*after).annotations().empty());
}

TEST_CASE("removed versions are known, but not served unless they are asked for") {
  for (const auto* type : removed_versions()) {
    const auto& kind = kind_of_type(*type);
    INFO(kind.api_version());
    CHECK(scheme::instance().find(kind.api_version(), kind.kind()) == nullptr);
    CHECK(find_removed_version(kind.api_version(), kind.kind()) == &kind);
    CHECK_FALSE(kind.stored());
    const auto& home = home_of(kind);
    CHECK(home.version() == "v1");
    CHECK(kind.key("a", "b") == home.key("a", "b"));
  }
  CHECK(find_removed_version("batch/v1", "CronJob") == nullptr);
  CHECK(find_removed_version("batch/v1beta1", "Job") == nullptr);
}

TEST_CASE("an object of a removed version is the same object in v1") {
  for (const auto* type : removed_versions()) {
    const auto& shape = kind_of_type(*type);
    const auto& home = home_of(shape);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      INFO(shape.api_version() << ", seed " << seed);
      const auto content = random_object(home, seed);
      const auto seen = convert_from_home(shape, object_of(home, *content));
      std::unique_ptr<body> written(seen->content().New());
      written->CopyFrom(seen->content());
      const auto back = convert_to_home(shape, std::move(written), nullptr);
      meta_of(*back) = meta_of(*content);
      REQUIRE(MessageDifferencer::Equals(*back, *content));
    }
  }
}

TEST_CASE("an empty selector of a budget selects none in v1beta1 and all in v1") {
  constexpr auto empty = R"({"metadata":{"name":"b"},"spec":{"selector":{}}})";
  const auto all = shown<old_budget>(from_json<PodDisruptionBudget>(empty));
  REQUIRE(all.spec().selector().match_expressions_size() == 1);
  CHECK(all.spec().selector().match_expressions(0).operator_() == "DoesNotExist");
  CHECK(taken<PodDisruptionBudget>(all).spec().selector().match_expressions_size() == 0);

  const auto none = taken<PodDisruptionBudget>(from_json<old_budget>(empty));
  REQUIRE(none.spec().selector().match_expressions_size() == 1);
  CHECK(none.spec().selector().match_expressions(0).operator_() == "Exists");
  const auto again = shown<old_budget>(none);
  CHECK(again.spec().has_selector());
  CHECK(again.spec().selector().match_expressions_size() == 0);

  constexpr auto absent = R"({"metadata":{"name":"b"},"spec":{}})";
  CHECK_FALSE(shown<old_budget>(from_json<PodDisruptionBudget>(absent)).spec().has_selector());
  constexpr auto plain = R"({"spec":{"selector":{"matchLabels":{"app":"a"}}}})";
  CHECK(taken<PodDisruptionBudget>(from_json<old_budget>(plain))
            .spec()
            .selector()
            .match_labels()
            .at("app") == "a");
}

TEST_CASE("node and zone of an endpoint are in its topology in v1beta1") {
  const auto slice = from_json<old_slice>(R"({"addressType":"IPv4","endpoints":[
      {"addresses":["10.0.0.1"],"topology":{"kubernetes.io/hostname":"n1",
       "topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r"}},
      {"addresses":["10.0.0.2"],"nodeName":"n2","topology":{"kubernetes.io/hostname":"other"}}]})");
  const auto home = taken<EndpointSlice>(slice);
  REQUIRE(home.endpoints_size() == 2);
  CHECK(home.endpoints(0).node_name() == "n1");
  CHECK(home.endpoints(0).zone() == "z");
  CHECK(home.endpoints(0).deprecated_topology().size() == 1);
  CHECK(home.endpoints(1).node_name() == "n2");
  CHECK(home.endpoints(1).deprecated_topology().at("kubernetes.io/hostname") == "other");
  const auto back = shown<old_slice>(home);
  CHECK(back.endpoints(0).topology().size() == 3);
  CHECK(back.endpoints(0).topology().at("kubernetes.io/hostname") == "n1");
  CHECK(back.endpoints(0).topology().at("topology.kubernetes.io/zone") == "z");
}
