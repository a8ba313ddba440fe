// Pods that request an isolation that the node does not have.
#include "actors/kubelet/node/feature_admission.hpp"

#include <catch2/catch.hpp>

#include "actors/scheduler/builders.hpp"
#include "api/values/sysctl.hpp"

namespace troupe::test {

using namespace actors;
using actors::scheduler::make_pod;

namespace {

std::string refusal(const std::string& spec, const node_features& node = {}) {
  const auto failure = feature_rejection(make_pod("p", spec)->body(), node);
  return failure ? failure->reason + ": " + failure->message : "";
}

std::string sysctl(const std::string& name, const std::string& more = {}) {
  return "{" + more + "securityContext: {sysctls: [{name: " + name + ", value: \"1\"}]}}";
}

}  // namespace

TEST_CASE("a pod sets parameters of its own namespaces: the safe ones, and those allowed here",
          "[kubelet]") {
  CHECK(refusal(sysctl("net.ipv4.tcp_rmem")).empty());
  CHECK(refusal(sysctl("net/ipv4/tcp_rmem")).empty());
  CHECK(refusal(sysctl("kernel.shm_rmid_forced", "hostNetwork: true, ")).empty());
  CHECK(refusal(sysctl("net.core.somaxconn")) ==
        "SysctlForbidden: forbidden sysctl: \"net.core.somaxconn\" not allowlisted");
  CHECK(
      refusal(sysctl("net.ipv4.tcp_rmem", "hostNetwork: true, ")) ==
      "SysctlForbidden: forbidden sysctl: \"net.ipv4.tcp_rmem\" not allowed with host Net enabled");
  CHECK(refusal(sysctl("kernel.shm_rmid_forced", "hostIPC: true, ")) ==
        "SysctlForbidden: forbidden sysctl: \"kernel.shm_rmid_forced\" not allowed with host IPC "
        "enabled");
  CHECK_FALSE(refusal(sysctl("vm.swappiness")).empty());
}

TEST_CASE("a node's administrator may allow more parameters, by name or prefix", "[kubelet]") {
  const node_features node{.unsafe_sysctls = {"net.core.*", "kernel/msgmax"}};
  CHECK(refusal(sysctl("net.core.somaxconn"), node).empty());
  CHECK(refusal(sysctl("net/core/somaxconn"), node).empty());
  CHECK(refusal(sysctl("kernel.msgmax"), node).empty());
  CHECK(refusal(sysctl("kernel.msgmax2"), node) ==
        "SysctlForbidden: forbidden sysctl: \"kernel.msgmax2\" not allowlisted");
  CHECK_FALSE(refusal(sysctl("net.cores"), node).empty());
  CHECK_FALSE(refusal(sysctl("net.core.somaxconn", "hostNetwork: true, "), node).empty());
  for (const auto* each : {"net.*", "net.core.somaxconn", "kernel.shm*", "fs/mqueue/*"})
    CHECK(unsafe_sysctl_problem(each).empty());
  for (const auto* each : {"*", "kernel.*", "vm.swappiness", "net.*.x", "net.**", ""})
    CHECK(unsafe_sysctl_problem(each) ==
          "\"" + std::string{each} +
              "\" is no kernel parameter of a pod's own namespaces, as kernel.msgmax or net.*");
}

TEST_CASE("the separators of a parameter's name are exchanged where it begins with a slash",
          "[kubelet]") {
  CHECK(api::sysctl_with_dots("net/ipv4/conf/eth0.1/forwarding") ==
        "net.ipv4.conf.eth0/1.forwarding");
  CHECK(api::sysctl_with_dots("net.ipv4.conf.eth0/1.forwarding") ==
        "net.ipv4.conf.eth0/1.forwarding");
}

TEST_CASE("a pod is rejected rather than run with other groups, profiles or systems", "[kubelet]") {
  const node_features able{.app_armor = true, .strict_groups = true};
  const std::string strict = "{securityContext: {supplementalGroupsPolicy: Strict}}";
  CHECK(refusal(strict) ==
        "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in "
        "this node");
  CHECK(refusal(strict, able).empty());
  CHECK(refusal("{securityContext: {supplementalGroupsPolicy: Merge}}").empty());

  for (const std::string spec :
       {"{securityContext: {appArmorProfile: {type: RuntimeDefault}}}",
        "{containers: [{name: c, securityContext: {appArmorProfile: {type: Localhost, "
        "localhostProfile: x}}}]}",
        "{initContainers: [{name: c, securityContext: {appArmorProfile: {type: "
        "RuntimeDefault}}}]}"}) {
    CHECK(refusal(spec) ==
          "AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host");
    CHECK(refusal(spec, able).empty());
  }
  CHECK(refusal("{securityContext: {appArmorProfile: {type: Unconfined}}}").empty());

  CHECK(refusal("{os: {name: windows}}", able) ==
        "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS");
  CHECK(refusal("{os: {name: linux}}").empty());
}

}  // namespace troupe::test
