// Accounts that limit the secrets of their pods, and pods that mirror those of a kubelet.
#include "actors/write/admission/mountable_secrets.hpp"

#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_account.pb.h"

namespace troupe::test {

using api::core::v1::Pod;
using api::core::v1::ServiceAccount;
namespace admission = actors::admission;

namespace {

// Robot lists the secret "own" and the pull secret "pull".
struct limited_account {
  cluster c{1, without_controllers()};

  explicit limited_account(const std::string& value = "true") {
    ServiceAccount robot;
    robot.mutable_metadata()->set_name("robot");
    (*robot.mutable_metadata()->mutable_annotations())["kubernetes.io/enforce-mountable-secrets"] =
        value;
    robot.add_secrets()->set_name("own");
    robot.add_image_pull_secrets()->set_name("pull");
    c.create(robot);
  }

  // Why the pod is refused; empty if it is accepted.
  std::string refusal(const Pod& pod, admission::operation op = admission::operation::create,
                      std::string_view part = {}) const {
    const admission_case by{admission::make_service_account(), c.store().read(), op};
    auto attributes = by.of(op == admission::operation::create ? nullptr : &pod, &pod);
    attributes.subresource = part;
    const auto allowed = by.plugin->validate(attributes);
    return allowed ? std::string{} : allowed.error().message;
  }
};

Pod robot_pod() {
  auto pod = web_pod();
  pod.mutable_spec()->set_service_account_name("robot");
  return pod;
}

template <class Container>
void take_variable(Container& container, const std::string& secret) {
  auto& variable = *container.add_env();
  variable.set_name("A");
  variable.mutable_value_from()
      ->mutable_secret_key_ref()
      ->mutable_local_object_reference()
      ->set_name(secret);
}

const std::string not_listed =
    " is not allowed because service account robot does not reference that secret";

}  // namespace

TEST_CASE("a pod may use only the secrets that its account lists, where the account restricts them",
          "[admission]") {
  const limited_account world;
  auto pod = robot_pod();
  auto& spec = *pod.mutable_spec();
  auto& volume = *spec.add_volumes();
  volume.set_name("v");
  auto& source = *volume.mutable_volume_source()->mutable_secret();
  source.set_secret_name("own");
  auto& container = *spec.mutable_containers(0);
  take_variable(container, "own");
  spec.add_image_pull_secrets()->set_name("pull");
  CHECK(world.refusal(pod).empty());

  SECTION("of a volume") {
    source.set_secret_name("other");
    CHECK(world.refusal(pod) ==
          "pods \"web\" is forbidden: volume with secret.secretName=\"other\"" + not_listed);
  }
  SECTION("of a variable") {
    take_variable(container, "other");
    CHECK(world.refusal(pod) ==
          "pods \"web\" is forbidden: container c with envVar A referencing "
          "secret.secretName=\"other\"" +
              not_listed);
  }
  SECTION("of all variables from one") {
    container.add_env_from()->mutable_secret_ref()->mutable_local_object_reference()->set_name(
        "other");
    CHECK(world.refusal(pod) ==
          "pods \"web\" is forbidden: container c with envFrom referencing "
          "secret.secretName=\"other\"" +
              not_listed);
  }
  SECTION("of a container that starts first") {
    auto& first = *spec.add_init_containers();
    first.set_name("i");
    take_variable(first, "other");
    CHECK_THAT(world.refusal(pod), Catch::Contains("init container i with envVar A"));
  }
  SECTION("for pulling images") {
    spec.add_image_pull_secrets()->set_name("own");
    CHECK(world.refusal(pod) ==
          "pods \"web\" is forbidden: imagePullSecrets[1].name=\"own\" is not allowed because "
          "service account robot does not reference that imagePullSecret");
  }
  SECTION("of a container that is added later") {
    auto& added = *spec.add_ephemeral_containers()->mutable_ephemeral_container_common();
    added.set_name("e");
    take_variable(added, "other");
    const auto update = admission::operation::update;
    CHECK_THAT(world.refusal(pod, update, "ephemeralcontainers"),
               Catch::Contains("ephemeral container e with envVar A"));
    CHECK(world.refusal(pod, update, "status").empty());
  }
}

TEST_CASE("an account that does not limit secrets is followed by its pods to any", "[admission]") {
  for (const auto* value : {"false", "", "yes", "0"}) {
    const limited_account world{value};
    auto pod = robot_pod();
    take_variable(*pod.mutable_spec()->mutable_containers(0), "other");
    CHECK(world.refusal(pod).empty());
  }
  for (const auto* value : {"1", "t", "TRUE"}) {
    const limited_account world{value};
    auto pod = robot_pod();
    take_variable(*pod.mutable_spec()->mutable_containers(0), "other");
    CHECK_FALSE(world.refusal(pod).empty());
  }
}

TEST_CASE("a mirror pod gets no account and refers to none, nor to secrets", "[admission]") {
  const limited_account world;
  auto pod = web_pod();
  (*pod.mutable_metadata()->mutable_annotations())["kubernetes.io/config.mirror"] = "x";
  const admission_case by{admission::make_service_account(), world.c.store().read()};
  REQUIRE(by.mutate(pod));
  CHECK(pod.spec().service_account_name().empty());
  CHECK(pod.spec().volumes().empty());
  CHECK(world.refusal(pod).empty());
  take_variable(*pod.mutable_spec()->mutable_containers(0), "own");
  CHECK_THAT(world.refusal(pod), Catch::Contains("a mirror pod may not reference secrets"));
  pod.mutable_spec()->set_service_account_name("robot");
  CHECK_THAT(world.refusal(pod),
             Catch::Contains("a mirror pod may not reference service accounts"));
}

}  // namespace troupe::test
