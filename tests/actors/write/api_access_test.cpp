// How pods get a token of their account.
#include "actors/write/admission/api_access.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "actors/controllers/root_ca/root_ca.hpp"
#include "actors/write/admission_fixture.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ServiceAccount;

namespace admission = actors::admission;

namespace {

// Publishes its certificates, so pods get tokens.
struct token_cluster {
  cluster c{1, without_controllers()};

  token_cluster() {
    Namespace system;
    system.mutable_metadata()->set_name("kube-system");
    c.create(system);
    REQUIRE(c.try_create(actors::root_ca::make_map("kube-system", "PEM")));
  }
  void add_account(const std::string& name, bool automount) {
    ServiceAccount account;
    account.mutable_metadata()->set_name(name);
    account.set_automount_service_account_token(automount);
    account.add_image_pull_secrets()->set_name("registry");
    c.create(account);
  }
  admission_case plugin() const { return {admission::make_service_account(), c.store().read()}; }
};

Pod admitted(const admission_case& by, Pod pod = web_pod()) {
  REQUIRE(by.mutate(pod));
  return pod;
}

}  // namespace

TEST_CASE("a pod is given the token of its account, as upstream writes it", "[admission]") {
  const token_cluster world;
  const auto pod = admitted(world.plugin());
  REQUIRE(pod.spec().volumes_size() == 1);
  const auto& volume = pod.spec().volumes(0);
  CHECK(volume.name().size() == std::string_view{"kube-api-access-12345"}.size());
  CHECK(volume.name().starts_with("kube-api-access-"));
  const auto json = api::encode_json(pod, "v1", "Pod");
  CHECK(
      json.find(
          R"("projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
          R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
          R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1",)"
          R"("fieldPath":"metadata.namespace"}}]}}],"defaultMode":420})") != json.npos);
  const auto& mount = pod.spec().containers(0).volume_mounts(0);
  CHECK(mount.name() == volume.name());
  CHECK(mount.read_only());
  CHECK(mount.mount_path() == "/var/run/secrets/kubernetes.io/serviceaccount");
}

TEST_CASE("a pod that was given its token is not given another", "[admission]") {
  const token_cluster world;
  const auto once = admitted(world.plugin());
  CHECK(admitted(world.plugin(), once).SerializeAsString() == once.SerializeAsString());
}

TEST_CASE("pod and account decide about the token, the pod first", "[admission]") {
  token_cluster world;
  world.add_account("quiet", false);
  const auto by = world.plugin();
  const auto volumes = [&](const char* account, std::optional<bool> wish) {
    auto pod = web_pod();
    pod.mutable_spec()->set_service_account_name(account);
    if (wish) pod.mutable_spec()->set_automount_service_account_token(*wish);
    return admitted(by, pod).spec().volumes_size();
  };
  CHECK(volumes("default", std::nullopt) == 1);
  CHECK(volumes("default", false) == 0);
  CHECK(volumes("quiet", std::nullopt) == 0);
  CHECK(volumes("quiet", true) == 1);
}

TEST_CASE("a container that mounts something at the token's place keeps it", "[admission]") {
  const token_cluster world;
  auto pod = web_pod();
  auto& own = *pod.mutable_spec()->mutable_containers(0)->add_volume_mounts();
  own.set_name("mine");
  own.set_mount_path(std::string{admission::api_access_path});
  const auto alone = admitted(world.plugin(), pod);
  CHECK(alone.spec().volumes_size() == 0);
  CHECK(alone.spec().containers(0).volume_mounts_size() == 1);
  *pod.mutable_spec()->add_containers() = web_pod().spec().containers(0);
  *pod.mutable_spec()->add_init_containers() = web_pod().spec().containers(0);
  const auto more = admitted(world.plugin(), pod);
  CHECK(more.spec().volumes_size() == 1);
  CHECK(more.spec().containers(0).volume_mounts_size() == 1);
  CHECK(more.spec().containers(1).volume_mounts(0).name() == more.spec().volumes(0).name());
  CHECK(more.spec().init_containers(0).volume_mounts_size() == 1);
}

TEST_CASE("the name of the token's volume follows from the write, and differs between writes",
          "[admission]") {
  std::mt19937_64 random{7};
  std::set<std::string> names;
  constexpr int rounds = 1'000;
  for (int round = 0; round < rounds; ++round) {
    const auto salt = round == 0 ? 0 : random();
    auto pod = web_pod(), again = web_pod();
    admission::mount_api_access(pod, salt);
    admission::mount_api_access(again, salt);
    CHECK(pod.spec().volumes(0).name() == again.spec().volumes(0).name());
    names.insert(pod.spec().volumes(0).name());
  }
  CHECK(names.size() > rounds * 9 / 10);
}

TEST_CASE("a pod gets the image pull secrets of its account unless it has its own", "[admission]") {
  token_cluster world;
  world.add_account("robot", true);
  auto pod = web_pod();
  pod.mutable_spec()->set_service_account_name("robot");
  CHECK(admitted(world.plugin(), pod).spec().image_pull_secrets(0).name() == "registry");
  pod.mutable_spec()->add_image_pull_secrets()->set_name("own");
  const auto kept = admitted(world.plugin(), pod);
  REQUIRE(kept.spec().image_pull_secrets_size() == 1);
  CHECK(kept.spec().image_pull_secrets(0).name() == "own");
}

TEST_CASE("a cluster that publishes no certificates gives no tokens", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{admission::make_service_account(), c.store().read()};
  CHECK(admitted(by).spec().volumes_size() == 0);
}

}  // namespace troupe::test
