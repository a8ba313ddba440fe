// Objects of controllers pass admission like those of clients.
#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/scheduling_v1.pb.h"

namespace troupe::test {

using api::core::v1::Event;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::scheduling::v1::PriorityClass;

namespace {

ReplicationController controller_of_class(const std::string& priority_class) {
  ReplicationController rc;
  rc.mutable_metadata()->set_name("web");
  auto& spec = *rc.mutable_spec();
  spec.set_replicas(3);
  (*spec.mutable_selector())["app"] = "web";
  auto& pods = *spec.mutable_template_();
  (*pods.mutable_metadata()->mutable_labels())["app"] = "web";
  *pods.mutable_spec() = web_pod().spec();
  pods.mutable_spec()->set_priority_class_name(priority_class);
  return rc;
}

std::vector<std::string> messages(const cluster& c, const std::string& reason) {
  std::vector<std::string> found;
  for (const auto& each : c.list<Event>("default"))
    if (each->as<Event>().reason() == reason) found.push_back(each->as<Event>().message());
  return found;
}

// Called for pods; answers only when told to.
class silent_step final : public actors::admission::external_step {
 public:
  std::string_view name() const noexcept override { return "silent"; }
  bool mutates() const noexcept override { return false; }
  bool handles(const api::kind_info& kind, actors::admission::operation op,
               bool part) const override {
    return &kind == &api::kind_of<Pod>() && op == actors::admission::operation::create && !part;
  }
  runtime::duration timeout() const noexcept override { return std::chrono::seconds{10}; }
  void ask(actors::admission::question_ptr,
           std::function<void(actors::admission::reply)> answer) const override {
    if (answers) answer(actors::admission::reply{});
  }

  bool answers = false;
};

}  // namespace

TEST_CASE("a controller whose pods are refused reports why, and continues when they are admitted",
          "[admission]") {
  cluster c{1};
  c.create(controller_of_class("missing"));
  REQUIRE(c.run_until([&] { return !messages(c, "FailedCreate").empty(); }));
  // One event with a counter: the message does not name the pod.
  CHECK(messages(c, "FailedCreate") ==
        std::vector<std::string>{"Error creating: pods \"web-\" is forbidden: no PriorityClass "
                                 "with name missing was found"});
  CHECK(c.run_until([&] {
    const auto rc = c.get<ReplicationController>("default", "web");
    const auto& conditions = rc.status().conditions();
    return !conditions.empty() && conditions[0].type() == "ReplicaFailure";
  }));
  CHECK(c.count<Pod>() == 0);

  PriorityClass missing;
  missing.mutable_metadata()->set_name("missing");
  missing.set_value(12);
  c.create(missing);
  REQUIRE(c.run_until([&] { return c.count<Pod>() == 3; }, std::chrono::minutes{20}));
  for (const auto& pod : c.list<Pod>()) {
    CHECK(pod->as<Pod>().spec().priority() == 12);
    CHECK(pod->as<Pod>().spec().service_account_name() == "default");
    CHECK(pod->as<Pod>().spec().tolerations_size() == 2);
  }
}

TEST_CASE("a controller hears that a step outside does not answer, and makes each pod once",
          "[admission]") {
  const auto step = std::make_shared<silent_step>();
  cluster_options options;
  options.plane.external = {step};
  cluster c{1, options};
  auto rc = controller_of_class({});
  const auto begun = c.now();
  c.create(rc);
  REQUIRE(c.run_until([&] { return !messages(c, "FailedCreate").empty(); }));
  CHECK(c.now() - begun >= std::chrono::seconds{10});
  CHECK_THAT(messages(c, "FailedCreate").front(),
             Catch::Contains("failed calling admission step \"silent\""));
  CHECK(c.count<Pod>() == 0);
  // Its controller crashes while the step is pending.
  c.run_until([&] { return c.plane().writes().count().waiting_external > 0; },
              std::chrono::minutes{20});
  c.crash("replicationcontroller", "default/web");
  step->answers = true;
  REQUIRE(c.run_until([&] { return c.count<Pod>() == 3; }, std::chrono::minutes{20}));
  c.advance(std::chrono::minutes{1});
  c.settle();
  CHECK(c.count<Pod>() == 3);
}

}  // namespace troupe::test
