// Kinds that serve the objects of another kind.
#include "api/conversion/shapes.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "api/equality.hpp"
#include "api/manifests.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/events_v1.pb.h"
#include "api/schema/meta_object.pb.h"
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
    const auto shown = shown_as(shape, object_of(home, *content));
    REQUIRE(&shown->kind() == &shape);
    std::unique_ptr<body> copy(shown->content().New());
    copy->CopyFrom(shown->content());
    const auto back = taken_home(shape, std::move(copy), nullptr);
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
  const auto shown = shown_as(kind_of<old_scaler>(), object_of(kind_of<new_scaler>(), home));
  CHECK(shown->as<old_scaler>().spec().target_cpu_utilization_percentage() == 70);
  CHECK(shown->as<old_scaler>().spec().max_replicas() == 3);

  auto changed = std::make_unique<old_scaler>(shown->as<old_scaler>());
  changed->mutable_spec()->set_target_cpu_utilization_percentage(60);
  changed->mutable_spec()->set_max_replicas(9);
  const auto back = taken_home(kind_of<old_scaler>(), std::move(changed), &home);
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
    const auto shown = shown_as(kind_of<old_scaler>(), object_of(kind_of<new_scaler>(), scaler));
    auto copy = std::make_unique<old_scaler>(shown->as<old_scaler>());
    const auto back = taken_home(kind_of<old_scaler>(), std::move(copy), &scaler);
    scaler.mutable_metadata()->set_resource_version("7");
    INFO(scaler.ShortDebugString() << "\n" << back->ShortDebugString());
    REQUIRE(same_meaning(*back, scaler));
  }
}
