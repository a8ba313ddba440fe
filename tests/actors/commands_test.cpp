#include "actors/write/commands.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::command_plan;
using api::core::v1::Pod;

namespace {

const runtime::wall_time noon{std::chrono::seconds{1'700'000'000}};

const std::string web_key = "/registry/pods/default/web";

Pod web() {
  Pod pod;
  pod.mutable_metadata()->set_name("web");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("web:1");
  return pod;
}

cluster_options controllers_off() {
  cluster_options options;
  options.plane.controllers = false;
  return options;
}

const Pod& pod_in(const command_plan& plan) {
  return static_cast<const Pod&>(*plan.transaction.mutations.at(0).content);
}

api::expected<command_plan> try_bind(const cluster& c, const std::string& uid = {}) {
  return actors::plan_bind(c.store().read(), {web_key, uid, "n1"}, noon);
}

}  // namespace

// -- bind -----------------------------------------------------------------------------------------

TEST_CASE("binding sets the node and the condition PodScheduled") {
  cluster c{1, controllers_off()};
  const auto made = c.create(web());
  const auto plan = try_bind(c, made->meta().uid());
  REQUIRE(plan);
  const auto& bound = pod_in(*plan);
  CHECK(bound.spec().node_name() == "n1");
  const auto* scheduled = actors::find_condition(bound.status().conditions(), "PodScheduled");
  REQUIRE(scheduled != nullptr);
  CHECK(scheduled->status() == "True");
  CHECK(scheduled->last_transition_time().seconds() == 1'700'000'000);
  CHECK(plan->transaction.preconditions.at(0).at == made->revision());
}

TEST_CASE("binding is refused in upstream's words") {
  cluster c{1, controllers_off()};
  const std::string refused = "Operation cannot be fulfilled on pods/binding \"web\": pod web ";
  SECTION("a pod that is assigned") {
    auto pod = web();
    pod.mutable_spec()->set_node_name("n0");
    c.create(pod);
    const auto error = try_bind(c).error();
    CHECK(error.code == 409);
    CHECK(error.message == refused + "is already assigned to node \"n0\"");
  }
  SECTION("a pod that is being deleted") {
    auto pod = web();
    pod.mutable_metadata()->add_finalizers("example.com/mine");
    c.create(pod);
    c.remove<Pod>("default", "web");
    CHECK(try_bind(c).error().message ==
          refused + "is being deleted, cannot be assigned to a host");
  }
  SECTION("a pod behind a scheduling gate") {
    auto pod = web();
    pod.mutable_spec()->add_scheduling_gates()->set_name("example.com/gate");
    c.create(pod);
    CHECK(try_bind(c).error().message == refused + "has non-empty .spec.schedulingGates");
  }
  SECTION("another pod of the same name") {
    c.create(web());
    CHECK(try_bind(c, "other").error().code == 409);
  }
  SECTION("a pod that has gone") {
    CHECK(try_bind(c).error().code == 404);
    CHECK(try_bind(c).error().message == "pods \"web\" not found");
  }
}

// -- remove and evict -----------------------------------------------------------------------------

TEST_CASE("a removal is that of a client: grace, finalizers, the kind's own propagation") {
  cluster c{1, controllers_off()};
  auto pod = web();
  pod.mutable_spec()->set_node_name("n1");
  pod.mutable_spec()->set_termination_grace_period_seconds(12);
  c.create(pod);
  const auto state = c.store().read();
  const auto plan = actors::plan_remove(state, {.key = web_key}, noon);
  REQUIRE(plan);
  const auto& marked = pod_in(*plan).metadata();
  CHECK(marked.deletion_timestamp().seconds() == 1'700'000'012);
  CHECK(marked.deletion_grace_period_seconds() == 12);

  const auto at_once = actors::plan_remove(state, {.key = web_key, .grace_seconds = 0}, noon);
  CHECK(at_once->transaction.mutations.at(0).content == nullptr);

  const auto other = actors::plan_remove(state, {.key = web_key, .uid = "other"}, noon);
  CHECK(other.error().code == 409);
  const auto gone = actors::plan_remove(state, {.key = "/registry/pods/default/x"}, noon);
  CHECK(gone.error().code == 404);
}

TEST_CASE("a removal that has been carried out before changes nothing") {
  cluster c{1, controllers_off()};
  auto pod = web();
  pod.mutable_spec()->set_node_name("n1");
  c.create(pod);
  c.remove<Pod>("default", "web");
  const auto again = actors::plan_remove(c.store().read(), {.key = web_key}, noon);
  REQUIRE(again);
  CHECK(again->transaction.mutations.empty());
  CHECK(again->object->meta().has_deletion_timestamp());
}

TEST_CASE("an eviction says why in the pod's conditions") {
  cluster c{1, controllers_off()};
  auto pod = web();
  pod.mutable_spec()->set_node_name("n1");
  c.create(pod);
  const auto plan = actors::plan_evict(
      c.store().read(),
      {.pod_key = web_key, .reason = "DeletionByTaintManager", .message = "deleting"}, noon);
  REQUIRE(plan);
  const auto* target =
      actors::find_condition(pod_in(*plan).status().conditions(), "DisruptionTarget");
  REQUIRE(target != nullptr);
  CHECK(target->reason() == "DeletionByTaintManager");
  CHECK(pod_in(*plan).metadata().deletion_grace_period_seconds() == 30);
}

TEST_CASE("removing the last finalizer deletes an object that is being deleted") {
  cluster c{1, controllers_off()};
  auto pod = web();
  pod.mutable_metadata()->add_finalizers("example.com/a");
  pod.mutable_metadata()->add_finalizers("example.com/b");
  c.create(pod);
  c.remove<Pod>("default", "web");
  c.change<Pod>("default", "web",
                [](Pod& p) { p.mutable_metadata()->mutable_finalizers()->RemoveLast(); });
  REQUIRE(c.find<Pod>("default", "web"));
  c.change<Pod>("default", "web", [](Pod& p) { p.mutable_metadata()->clear_finalizers(); });
  CHECK_FALSE(c.find<Pod>("default", "web"));
}

}  // namespace troupe::test
