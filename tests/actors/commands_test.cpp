#include "actors/commands.hpp"

#include <catch2/catch.hpp>

#include "actors/condition.hpp"
#include "actors/deletion.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::command_plan;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;

namespace {

const runtime::wall_time noon{std::chrono::seconds{1'700'000'000}};

Pod web() {
  Pod pod;
  pod.mutable_metadata()->set_name("web");
  pod.mutable_metadata()->set_namespace_("default");
  pod.mutable_metadata()->set_uid("u1");
  pod.mutable_spec()->add_containers()->set_name("c");
  return pod;
}

template <class T>
api::object_ptr object(const T& content) {
  return std::make_shared<const api::object>(api::kind_of<T>(), std::make_unique<T>(content), 7);
}

// Plans on a store that holds just this object.
struct on {
  template <class T>
  explicit on(const T& content) : c{1, {.plane = {.controllers = false}}} {
    made = c.create(content);
  }

  api::expected<command_plan> bind(const std::string& uid = {}) const {
    return actors::plan_bind(c_state(), {key, uid.empty() ? made->meta().uid() : uid, "n1"}, noon);
  }
  persistence::snapshot c_state() const { return const_cast<cluster&>(c).truth().read(); }

  cluster c;
  api::object_ptr made;
  std::string key = "/registry/pods/default/web";
};

const Pod& pod_in(const command_plan& plan) {
  return static_cast<const Pod&>(*plan.what.mutations.at(0).content);
}

command_plan deletion_of(const api::object_ptr& old, const actors::deletion& how) {
  return actors::plan_deletion(old, "/key", old->copy(), how, noon);
}

}  // namespace

// -- bind -----------------------------------------------------------------------------------------

TEST_CASE("binding sets the node and the condition PodScheduled") {
  const on state{web()};
  const auto plan = state.bind();
  REQUIRE(plan);
  const auto& bound = pod_in(*plan);
  CHECK(bound.spec().node_name() == "n1");
  const auto* scheduled = actors::find_condition(bound.status().conditions(), "PodScheduled");
  REQUIRE(scheduled != nullptr);
  CHECK(scheduled->status() == "True");
  CHECK(scheduled->last_transition_time().seconds() == 1'700'000'000);
  CHECK(plan->what.preconditions.at(0).at == state.made->revision());
}

TEST_CASE("binding is refused in upstream's words") {
  SECTION("a pod that is assigned") {
    auto pod = web();
    pod.mutable_spec()->set_node_name("n0");
    const auto refused = on{pod}.bind().error();
    CHECK(refused.code == 409);
    CHECK(refused.message ==
          "Operation cannot be fulfilled on pods/binding \"web\": pod web is already assigned to "
          "node \"n0\"");
  }
  SECTION("a pod that is being deleted") {
    auto pod = web();
    pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
    CHECK(on{pod}.bind().error().message ==
          "Operation cannot be fulfilled on pods/binding \"web\": pod web is being deleted, cannot "
          "be assigned to a host");
  }
  SECTION("a pod behind a scheduling gate") {
    auto pod = web();
    pod.mutable_spec()->add_scheduling_gates()->set_name("g");
    CHECK(on{pod}.bind().error().message ==
          "Operation cannot be fulfilled on pods/binding \"web\": pod web has non-empty "
          ".spec.schedulingGates");
  }
  SECTION("another pod of the same name") {
    CHECK(on{web()}.bind("other").error().code == 409);
  }
  SECTION("a pod that has gone") {
    const on state{web()};
    const auto refused =
        actors::plan_bind(state.c_state(), {"/registry/pods/default/gone", "", "n1"}, noon).error();
    CHECK(refused.code == 404);
    CHECK(refused.message == "pods \"gone\" not found");
  }
}

// -- deletion -------------------------------------------------------------------------------------

TEST_CASE("a bound pod is marked and left to its kubelet") {
  auto pod = web();
  pod.mutable_spec()->set_node_name("n1");
  pod.mutable_spec()->set_termination_grace_period_seconds(12);
  const auto plan = deletion_of(object(pod), {});
  const auto& marked = pod_in(plan).metadata();
  CHECK(marked.deletion_timestamp().seconds() == 1'700'000'012);
  CHECK(marked.deletion_grace_period_seconds() == 12);

  SECTION("a second deletion changes nothing") {
    const auto again = deletion_of(object(pod_in(plan)), {});
    CHECK(again.what.mutations.empty());
  }
  SECTION("a second deletion with less grace shortens it") {
    const auto again = deletion_of(object(pod_in(plan)), {.grace_seconds = 5});
    CHECK(pod_in(again).metadata().deletion_timestamp().seconds() == 1'700'000'005);
  }
  SECTION("no grace removes it") {
    CHECK(deletion_of(object(pod_in(plan)), {.grace_seconds = 0}).what.mutations[0].content ==
          nullptr);
  }
}

TEST_CASE("a pod without node, or one that has ended, is removed at once") {
  CHECK(deletion_of(object(web()), {}).what.mutations[0].content == nullptr);
  auto done = web();
  done.mutable_spec()->set_node_name("n1");
  done.mutable_status()->set_phase("Succeeded");
  CHECK(deletion_of(object(done), {}).what.mutations[0].content == nullptr);
}

TEST_CASE("finalizers hold an object, and the propagation policy is one") {
  auto pod = web();
  pod.mutable_metadata()->add_finalizers("example.com/mine");
  const auto held = deletion_of(object(pod), {});
  REQUIRE(held.what.mutations[0].content);
  CHECK(pod_in(held).metadata().has_deletion_timestamp());

  ReplicationController rc;
  rc.mutable_metadata()->set_name("web");
  const auto finalizers = [&](const std::string& policy) {
    const auto plan = deletion_of(object(rc), {.propagation = policy});
    std::vector<std::string> names;
    if (plan.what.mutations[0].content) {
      const auto& all = api::meta_of(*plan.what.mutations[0].content).finalizers();
      names.assign(all.begin(), all.end());
    }
    return names;
  };
  CHECK(finalizers("").at(0) == "orphan");  // what a replication controller does by itself
  CHECK(finalizers("Orphan").at(0) == "orphan");
  CHECK(finalizers("Foreground").at(0) == "foregroundDeletion");
  CHECK(finalizers("Background").empty());
}

TEST_CASE("a namespace is terminating until it is empty") {
  Namespace space;
  space.mutable_metadata()->set_name("n");
  space.mutable_spec()->add_finalizers("kubernetes");
  const auto plan = deletion_of(object(space), {});
  const auto& marked = static_cast<const Namespace&>(*plan.what.mutations[0].content);
  CHECK(marked.status().phase() == "Terminating");
  CHECK(marked.metadata().has_deletion_timestamp());
  auto emptied = marked;
  emptied.mutable_spec()->clear_finalizers();
  CHECK(actors::released(api::kind_of<Namespace>(), emptied));
}

TEST_CASE("an eviction says why in the pod's conditions") {
  auto pod = web();
  pod.mutable_spec()->set_node_name("n1");
  const on state{pod};
  const auto plan = actors::plan_evict(
      state.c_state(),
      {.pod_key = state.key, .reason = "DeletionByTaintManager", .message = "deleting"}, noon);
  REQUIRE(plan);
  const auto* target =
      actors::find_condition(pod_in(*plan).status().conditions(), "DisruptionTarget");
  REQUIRE(target != nullptr);
  CHECK(target->reason() == "DeletionByTaintManager");
  CHECK(pod_in(*plan).metadata().deletion_grace_period_seconds() == 30);
}

}  // namespace troupe::test
