// Each built-in admission plugin on its own.
#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/scheduling_v1.pb.h"

namespace troupe::test {

using actors::admission::operation;
using api::core::v1::Namespace;
using api::core::v1::ServiceAccount;
using api::scheduling::v1::PriorityClass;
namespace admission = actors::admission;

namespace {

PriorityClass priority_class(const std::string& name, std::int32_t value, bool is_default = false) {
  PriorityClass made;
  made.mutable_metadata()->set_name(name);
  made.set_value(value);
  made.set_global_default(is_default);
  return made;
}

}  // namespace

TEST_CASE("NamespaceLifecycle makes a creation conditional on the namespace that it checked",
          "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_namespace_lifecycle(), c.store().read()};
  auto map = config_map("a");
  persistence::transaction also;
  REQUIRE(by.mutate(*map, also));
  REQUIRE(also.preconditions.size() == 1);
  CHECK(also.preconditions[0].key == "/registry/namespaces/default");
  CHECK(also.preconditions[0].at == c.find<Namespace>({}, "default")->revision());

  map->mutable_metadata()->set_namespace_("nowhere");
  const auto refused = by.mutate(*map);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 404);
  CHECK(refused.error().message == "namespaces \"nowhere\" not found");
}

TEST_CASE("NamespaceLifecycle lets nothing into a namespace that ends", "[admission]") {
  cluster c{1, without_controllers()};
  c.change<Namespace>({}, "default",
                      [](Namespace& ns) { ns.mutable_status()->set_phase("Terminating"); });
  const admission_case by{admission::make_namespace_lifecycle(), c.store().read()};
  auto map = config_map("a");
  const auto refused = by.mutate(*map);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 403);
  CHECK(refused.error().message ==
        "configmaps \"a\" is forbidden: unable to create new content in namespace default because "
        "it is being terminated");
  CHECK(refused.error().causes.at(0).reason == "NamespaceTerminating");
}

TEST_CASE("NamespaceLifecycle keeps the namespaces of the system", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_namespace_lifecycle(), c.store().read(),
                          operation::remove};
  Namespace ns;
  ns.mutable_metadata()->set_name("kube-system");
  CHECK(by.remove(ns).error().message ==
        "namespaces \"kube-system\" is forbidden: this namespace may not be deleted");
  ns.mutable_metadata()->set_name("mine");
  CHECK(by.remove(ns));
}

TEST_CASE("ServiceAccount gives a pod an account and refuses one that is not there",
          "[admission]") {
  cluster c{1, without_controllers()};
  ServiceAccount account;
  account.mutable_metadata()->set_name("robot");
  c.create(account);
  const admission_case by{admission::make_service_account(), c.store().read()};
  auto pod = web_pod();
  REQUIRE(by.mutate(pod));
  CHECK(pod.spec().service_account_name() == "default");
  CHECK(pod.spec().service_account() == "default");
  pod.mutable_spec()->set_service_account_name("robot");
  CHECK(by.mutate(pod));
  pod.mutable_spec()->set_service_account_name("nobody");
  CHECK(by.mutate(pod).error().message ==
        "pods \"web\" is forbidden: error looking up service account default/nobody: "
        "serviceaccount \"nobody\" not found");
}

TEST_CASE("Priority resolves the class of a pod", "[admission]") {
  cluster c{1, without_controllers()};
  c.create(priority_class("high", 1'000));
  const admission_case none{admission::make_priority(), c.store().read()};
  auto plain = web_pod();
  REQUIRE(none.mutate(plain));
  CHECK(plain.spec().priority() == 0);
  CHECK(plain.spec().preemption_policy() == "PreemptLowerPriority");

  c.create(priority_class("usual", 7, true));
  const admission_case by{admission::make_priority(), c.store().read()};
  auto usual = web_pod();
  REQUIRE(by.mutate(usual));
  CHECK(usual.spec().priority_class_name() == "usual");
  CHECK(usual.spec().priority() == 7);
  auto high = web_pod();
  high.mutable_spec()->set_priority_class_name("high");
  REQUIRE(by.mutate(high));
  CHECK(high.spec().priority() == 1'000);
  REQUIRE(by.mutate(high));  // again, as after a step outside
  auto system = web_pod();
  system.mutable_spec()->set_priority_class_name("system-node-critical");
  REQUIRE(by.mutate(system));
  CHECK(system.spec().priority() == 2'000'001'000);
}

TEST_CASE("Priority refuses unknown classes and numbers that are not the class's", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_priority(), c.store().read()};
  auto pod = web_pod();
  pod.mutable_metadata()->clear_name();
  pod.mutable_metadata()->set_generate_name("web-");
  pod.mutable_spec()->set_priority_class_name("missing");
  // The name is not generated yet: the same message for each pod of a controller.
  CHECK(by.mutate(pod).error().message ==
        "pods \"web-\" is forbidden: no PriorityClass with name missing was found");
  auto chosen = web_pod();
  chosen.mutable_spec()->set_priority(5);
  CHECK_THAT(by.mutate(chosen).error().message,
             Catch::Contains("the integer value of priority (5) must not be provided"));
}

TEST_CASE("Priority keeps the pod's values that an update leaves out", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case admit{actors::admission::make_priority(), c.store().read(),
                             operation::update};
  auto before = web_pod();
  before.mutable_spec()->set_priority(7);
  before.mutable_spec()->set_preemption_policy("Never");
  auto now = web_pod();
  persistence::transaction also;
  REQUIRE(admit.plugin->mutate(admit.of(&before, &now), now, also));
  CHECK(now.spec().priority() == 7);
  CHECK(now.spec().preemption_policy() == "Never");
  // Another value is refused as every change of a pod's spec.
  now.mutable_spec()->set_priority(8);
  REQUIRE(admit.plugin->mutate(admit.of(&before, &now), now, also));
  CHECK(now.spec().priority() == 8);
}

TEST_CASE("Priority allows one default class, and keeps those of the system", "[admission]") {
  cluster c{1, without_controllers()};
  c.create(priority_class("usual", 7, true));
  admission_case by{admission::make_priority(), c.store().read()};
  CHECK(by.validate(priority_class("usual", 7, true)));
  CHECK(by.validate(priority_class("other", 8)));
  CHECK_THAT(by.validate(priority_class("other", 8, true)).error().message,
             Catch::Contains("PriorityClass usual is already marked as default"));
  by.op = operation::remove;
  CHECK(by.remove(priority_class("usual", 7)));
  CHECK_THAT(by.remove(priority_class("system-node-critical", 1)).error().message,
             Catch::Contains("this is a system priority class and cannot be deleted"));
}

TEST_CASE("DefaultTolerationSeconds adds tolerations that a pod does not specify", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_default_toleration_seconds(), c.store().read()};
  auto pod = web_pod();
  auto& own = *pod.mutable_spec()->add_tolerations();
  own.set_key("node.kubernetes.io/not-ready");
  own.set_operator_("Exists");
  own.set_effect("NoExecute");
  own.set_toleration_seconds(5);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(by.mutate(pod));
    REQUIRE(pod.spec().tolerations_size() == 2);
    CHECK(pod.spec().tolerations(0).toleration_seconds() == 5);
    CHECK(pod.spec().tolerations(1).key() == "node.kubernetes.io/unreachable");
    CHECK(pod.spec().tolerations(1).toleration_seconds() == 300);
  }
  const auto plugin = admission::make_default_toleration_seconds();
  const auto& pods = api::kind_of<api::core::v1::Pod>();
  CHECK(plugin->handles(pods, admission::operation::update));
  CHECK_FALSE(plugin->handles(pods, admission::operation::remove));
  auto all = web_pod();
  all.mutable_spec()->add_tolerations()->set_operator_("Exists");
  REQUIRE(by.mutate(all));
  CHECK(all.spec().tolerations_size() == 1);
}

}  // namespace troupe::test
