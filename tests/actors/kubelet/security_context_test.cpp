// The rules of securityContext: the effective settings of a container, and rejected ones.
#include "actors/kubelet/security/security_context.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "api/codec/codec.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

using api::core::v1::Capabilities;
using api::core::v1::Pod;

namespace {

constexpr capability_set everything = (capability_set{1} << 41) - 1;

machine_rights of_root() {
  return {
      .user = 0, .group = 0, .capabilities = everything, .confined_by = confinement::namespaces};
}

machine_rights of_user() {
  return {.user = 1001,
          .group = 1001,
          .groups = {27},
          .capabilities = 0,
          .confined_by = confinement::user_namespace};
}

Pod pod(const std::string& of_pod, const std::string& of_container, const std::string& more = "") {
  const auto decoded = api::decode(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, uid: u-1}\nspec:\n  "
      "securityContext: {" +
          of_pod + "}\n" + more +
          "  containers:\n  - name: c\n    image: x\n    securityContext: {" + of_container + "}\n",
      api::media::yaml, nullptr);
  REQUIRE(decoded.has_value());
  return static_cast<const Pod&>(*decoded->content);
}

tl::expected<process_security, std::string> security_of(const Pod& pod,
                                                        const machine_rights& rights = of_root()) {
  return security_of(pod, pod.spec().containers(0), rights);
}

std::string refusal(const Pod& pod, const machine_rights& rights = of_root()) {
  const auto result = security_of(pod, rights);
  return result ? "" : result.error();
}

constexpr const char* name_of_it = " (pod: \"web_shop(u-1)\", container: c)";

}  // namespace

TEST_CASE("each field of a container's securityContext wins over its pod's", "[kubelet]") {
  const auto both =
      security_of(pod("runAsUser: 5, runAsGroup: 6, supplementalGroups: [9, 7], fsGroup: 8, "
                      "seccompProfile: {type: RuntimeDefault}",
                      "runAsUser: 50, seccompProfile: {type: Unconfined}"));
  REQUIRE(both);
  CHECK(both->user == 50u);
  CHECK(both->group == 6u);
  CHECK(both->groups == std::vector<std::uint32_t>{7, 8, 9});
  CHECK(both->seccomp == seccomp_kind::unconfined);
  CHECK(both->capabilities == default_capabilities());
  CHECK_FALSE(both->no_new_privileges);
  const auto strict = security_of(
      pod("supplementalGroupsPolicy: Strict",
          "allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: "
          "{drop: [ALL], add: [CAP_NET_BIND_SERVICE]}"));
  REQUIRE(strict);
  CHECK_FALSE(strict->user);
  CHECK(strict->no_new_privileges);
  CHECK(strict->read_only_root);
  CHECK_FALSE(strict->merge_groups);
  CHECK(strict->capabilities == capability_bit(*capability_number("NET_BIND_SERVICE")));
}

TEST_CASE("runAsNonRoot refuses root in upstream's words", "[kubelet]") {
  CHECK(refusal(pod("runAsNonRoot: true", "")) ==
        std::string{"container has runAsNonRoot and image will run as root"} + name_of_it);
  CHECK(refusal(pod("runAsNonRoot: true", "runAsUser: 0")) ==
        std::string{"container's runAsUser breaks non-root policy"} + name_of_it);
  CHECK(refusal(pod("runAsNonRoot: true", "runAsNonRoot: false")).empty());
  CHECK(refusal(pod("runAsNonRoot: true, runAsUser: 1000", "")).empty());
  CHECK(refusal(pod("runAsNonRoot: true", ""), of_user()).empty());
}

TEST_CASE("settings that the process runtime cannot honour are refused, not ignored", "[kubelet]") {
  const std::pair<Pod, const char*> all[] = {
      {pod("", "seLinuxOptions: {type: t}"), "seLinuxOptions cannot be honoured"},
      {pod("windowsOptions: {runAsUserName: x}", ""), "windowsOptions are for nodes with Windows"},
      {pod("", "procMount: Unmasked"), "procMount Unmasked cannot be honoured"},
      {pod("", "", "  hostUsers: false\n"), "hostUsers false cannot be honoured"},
      {pod("sysctls: [{name: kernel.shm_rmid_forced, value: '1'}]", ""),
       "sysctl \"kernel.shm_rmid_forced\" cannot be set"},
      {pod("appArmorProfile: {type: RuntimeDefault}", ""),
       "Cannot enforce AppArmor: AppArmor is not enabled on the host"},
      {pod("", "capabilities: {add: [NOTHING]}"), "unknown capability \"NOTHING\" to add"}};
  for (const auto& [asked, message] : all)
    CHECK_THAT(refusal(asked), Catch::StartsWith(message));
  CHECK(refusal(pod("appArmorProfile: {type: Unconfined}", "procMount: Default")).empty());
}

TEST_CASE("a node of an ordinary user honours the settings that it can and refuses the rest",
          "[kubelet]") {
  const auto plain = security_of(pod("runAsUser: 1001, runAsGroup: 1001, fsGroup: 27",
                                     "readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}"),
                                 of_user());
  REQUIRE(plain);
  CHECK_FALSE(plain->user);
  CHECK(plain->capabilities == 0);
  CHECK(plain->confined_by == confinement::user_namespace);
  for (const auto* asked : {"runAsUser: 0", "runAsUser: 1000", "runAsGroup: 5", "fsGroup: 5",
                            "supplementalGroups: [5]", "supplementalGroupsPolicy: Strict"})
    CHECK_THAT(refusal(pod(asked, ""), of_user()), Catch::Contains("run the node as root"));
  for (const auto* asked : {"privileged: true", "capabilities: {add: [NET_ADMIN]}"})
    CHECK_FALSE(refusal(pod("", asked), of_user()).empty());
}

TEST_CASE("without mount namespaces no container runs as root or as the node's user", "[kubelet]") {
  auto bare = of_root();
  bare.confined_by = confinement::none;
  bare.capabilities &= ~capability_bit(*capability_number("SYS_ADMIN"));
  CHECK_THAT(refusal(pod("", ""), bare),
             Catch::StartsWith("container would run as user 0, and the node may make no mount"));
  CHECK(refusal(pod("runAsUser: 7", ""), bare).empty());
  CHECK_FALSE(refusal(pod("runAsUser: 7", "readOnlyRootFilesystem: true"), bare).empty());
  auto own = of_user();
  own.confined_by = confinement::none;
  CHECK_THAT(refusal(pod("", ""), own), Catch::StartsWith("container would run as user 1001"));
}

TEST_CASE("a container's capabilities never exceed the requested ones and those of the node",
          "[kubelet][property]") {
  // Half of them are in the default set.
  const std::array<std::string, 8> known{"CHOWN",     "KILL",       "NET_RAW",  "MKNOD",
                                         "NET_ADMIN", "SYS_PTRACE", "SYS_TIME", "BPF"};
  std::mt19937_64 random{20'260'101};
  for (int round = 0; round < 2'000; ++round) {
    const capability_set available = random() & everything;
    Capabilities asked;
    capability_set added = 0, dropped = 0;
    bool all_added = false, all_dropped = false;
    for (int i = static_cast<int>(random() % 4); i > 0; --i) {
      const auto& name = known[random() % known.size()];
      const int number = *capability_number(name);
      if (random() % 6 == 0) {
        asked.add_add("ALL");
        all_added = true;
      } else if ((available & capability_bit(number)) != 0) {
        asked.add_add((random() % 2 == 0 ? "CAP_" : "") + name);
        added |= capability_bit(number);
      }
    }
    for (int i = static_cast<int>(random() % 4); i > 0; --i) {
      const auto& name = known[random() % known.size()];
      const int number = *capability_number(name);
      if (random() % 6 == 0) {
        asked.add_drop("all");
        all_dropped = true;
      } else {
        asked.add_drop(name);
        dropped |= capability_bit(number);
      }
    }
    const auto result = container_capabilities(asked, available);
    REQUIRE(result);
    CHECK((*result & ~available) == 0);
    CHECK((*result & dropped) == 0);
    CHECK((added & ~dropped & ~*result) == 0);
    if (all_dropped) CHECK((*result & ~added) == 0);
    if (!all_added) CHECK((*result & ~added & ~default_capabilities()) == 0);
    if (all_added && !all_dropped) CHECK(*result == (available & ~dropped));
  }
  Capabilities asked;
  asked.add_add("SYS_TIME");
  CHECK_FALSE(container_capabilities(asked, default_capabilities()));
}

TEST_CASE("the confinement of a container is stored in its spec unchanged", "[kubelet]") {
  test::scratch_folder folder;
  const container_dir dir{folder.path() / "1"};
  container_spec spec{.command = {"true"}, .environment = {}};
  REQUIRE(dir.write(spec));
  CHECK_FALSE(dir.spec()->security);
  spec.mounts = {{"/a", "s", "/b", true, false}, {"/c", "", "/d", false, true}};
  spec.security = process_security{.confined_by = confinement::user_namespace,
                                   .user = 7,
                                   .group = {},
                                   .groups = {1, 4'000'000'000u},
                                   .merge_groups = false,
                                   .capabilities = everything,
                                   .privileged = true,
                                   .no_new_privileges = true,
                                   .read_only_root = true,
                                   .seccomp = seccomp_kind::profile,
                                   .seccomp_profile = "{\"a\": 1:2}",
                                   .hidden = {"/x y", "/z"}};
  REQUIRE(dir.write(spec));
  const auto read = dir.spec();
  REQUIRE(read);
  CHECK(read->security == spec.security);
  REQUIRE(read->mounts.size() == 2);
  CHECK((read->mounts[0].read_only && !read->mounts[0].own));
  CHECK((!read->mounts[1].read_only && read->mounts[1].own));
}

}  // namespace troupe::actors
