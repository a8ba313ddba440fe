// PodSecurity as admission: refusals, warnings, and the namespace labels that apply.
#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "actors/write/pod_security/policy.hpp"
#include "actors/write/pod_security_fixture.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_namespace.pb.h"

namespace troupe::test {

using actors::admission::operation;
using actors::admission::remarks;
using api::apps::v1::Deployment;
using api::core::v1::Namespace;
using api::core::v1::Pod;
namespace admission = actors::admission;
namespace pod_security = actors::pod_security;

namespace {

constexpr const char* prefix = "pod-security.kubernetes.io/";

void label(cluster& c, const std::string& mode, const std::string& value) {
  c.change<Namespace>({}, "default", [&](Namespace& ns) {
    (*ns.mutable_metadata()->mutable_labels())[prefix + mode] = value;
  });
}

// The verdict of the plugin, and its warnings and audit annotations.
struct judgement {
  admission::verdict verdict;
  remarks said = {};

  std::string refusal() const { return verdict ? "" : verdict.error().message; }
  std::string warning() const { return said.warnings.empty() ? "" : said.warnings.front(); }
};

judgement evaluate(cluster& c, const api::body* before, const api::body& now,
                   std::string_view subresource = {},
                   const admission::user& by = {.name = "alice"}) {
  const auto plugin = admission::make_pod_security();
  const auto state = c.store().read();
  judgement result;
  result.verdict =
      plugin->validate({.state = state,
                        .kind = api::kind_of_type(*now.GetDescriptor()),
                        .op = before == nullptr ? operation::create : operation::update,
                        .subresource = subresource,
                        .by = by,
                        .before = before,
                        .now = &now,
                        .remarks = &result.said});
  return result;
}

Deployment deployment_of(const Pod& pod) {
  Deployment made;
  made.mutable_metadata()->set_name("web");
  made.mutable_metadata()->set_namespace_("default");
  *made.mutable_spec()->mutable_template_()->mutable_spec() = pod.spec();
  return made;
}

// Sets the process's settings, and restores them at the end.
struct settings_guard {
  explicit settings_guard(pod_security::configuration given) {
    pod_security::configure(std::move(given));
  }
  ~settings_guard() { pod_security::configure({}); }
};

const auto privileged = [] {
  return pod_of(
      R"({"containers":[{"name":"c","image":"x","securityContext":{"privileged":true}}]})");
};

}  // namespace

TEST_CASE("A namespace without labels lets every pod in", "[podsecurity]") {
  cluster c{1, without_controllers()};
  const auto seen = evaluate(c, nullptr, privileged());
  CHECK(seen.verdict);
  CHECK(seen.said.warnings.empty());
}

TEST_CASE("A namespace that enforces a level refuses a pod below it with all violations",
          "[podsecurity]") {
  cluster c{1, without_controllers()};
  label(c, "enforce", "baseline");
  const auto refused = evaluate(c, nullptr, privileged());
  REQUIRE_FALSE(refused.verdict);
  CHECK(refused.verdict.error().code == 403);
  CHECK(refused.refusal() ==
        "pods \"web\" is forbidden: violates PodSecurity \"baseline:latest\": privileged "
        "(container \"c\" must not set securityContext.privileged=true)");
  CHECK(evaluate(c, nullptr, restricted_pod()).verdict);
  label(c, "enforce", "nonsense");
  CHECK(evaluate(c, nullptr, privileged()).refusal().find("restricted:latest") !=
        std::string::npos);
  CHECK(evaluate(c, nullptr, restricted_pod()).verdict);
}

TEST_CASE("A namespace that warns or audits admits the pod and reports the violations",
          "[podsecurity]") {
  cluster c{1, without_controllers()};
  label(c, "warn", "baseline");
  label(c, "audit", "baseline");
  label(c, "audit-version", "v1.20");
  const auto seen = evaluate(c, nullptr, privileged());
  CHECK(seen.verdict);
  CHECK(seen.warning() ==
        "would violate PodSecurity \"baseline:latest\": privileged (container \"c\" must not set "
        "securityContext.privileged=true)");
  CHECK(seen.said.annotations.at("pod-security.kubernetes.io/audit-violations") ==
        "would violate PodSecurity \"baseline:v1.20\": privileged (container \"c\" must not set "
        "securityContext.privileged=true)");
}

TEST_CASE("The template of a workload is warned about and not refused", "[podsecurity]") {
  cluster c{1, without_controllers()};
  label(c, "enforce", "restricted");
  CHECK(evaluate(c, nullptr, deployment_of(privileged())).said.warnings.empty());
  label(c, "warn", "baseline");
  const auto seen = evaluate(c, nullptr, deployment_of(privileged()));
  CHECK(seen.verdict);
  CHECK(seen.warning().starts_with("would violate PodSecurity \"baseline:latest\": privileged"));
}

TEST_CASE("An update is evaluated when it changes an image, a container or a profile",
          "[podsecurity]") {
  cluster c{1, without_controllers()};
  label(c, "enforce", "baseline");
  const auto before = privileged();
  auto now = before;
  (*now.mutable_metadata()->mutable_labels())["a"] = "b";
  CHECK(evaluate(c, &before, now).verdict);
  CHECK(evaluate(c, &before, now, "status").verdict);
  CHECK(evaluate(c, &before, now, "resize").verdict);

  now.mutable_spec()->mutable_containers(0)->set_image("other");
  CHECK_FALSE(evaluate(c, &before, now).verdict);
  CHECK(evaluate(c, &before, now, "status").verdict);

  now = before;
  (*now.mutable_metadata()->mutable_annotations())["seccomp.security.alpha.kubernetes.io/pod"] =
      "x";
  CHECK_FALSE(evaluate(c, &before, now).verdict);
  CHECK_FALSE(evaluate(c, &now, before).verdict);

  const auto good = restricted_pod();
  now = good;
  auto& debugger =
      *now.mutable_spec()->add_ephemeral_containers()->mutable_ephemeral_container_common();
  debugger.set_name("d");
  debugger.mutable_security_context()->set_privileged(true);
  CHECK_FALSE(evaluate(c, &good, now, "ephemeralcontainers").verdict);
  CHECK_FALSE(evaluate(c, &good, now, "unknown").verdict);
}

TEST_CASE("Labels that cannot be read are refused when they are written", "[podsecurity]") {
  cluster c{1, without_controllers()};
  Namespace ns;
  ns.mutable_metadata()->set_name("n");
  (*ns.mutable_metadata()->mutable_labels())[std::string{prefix} + "enforce"] = "strict";
  const auto refused = evaluate(c, nullptr, ns);
  REQUIRE_FALSE(refused.verdict);
  CHECK(refused.verdict.error().code == 422);
  CHECK(refused.refusal() ==
        "Namespace \"n\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid "
        "value: \"strict\": must be one of privileged, baseline, restricted");
  // Existing violations do not prevent another change.
  auto now = ns;
  (*now.mutable_metadata()->mutable_labels())["a"] = "b";
  CHECK(evaluate(c, &ns, now).verdict);
  (*now.mutable_metadata()->mutable_labels())[std::string{prefix} + "warn"] = "strict";
  CHECK_FALSE(evaluate(c, &ns, now).verdict);
}

TEST_CASE("A stricter level warns of the pods that would not be let in", "[podsecurity]") {
  cluster c{1, without_controllers()};
  for (const auto* name : {"c", "a", "b"}) {
    auto pod = privileged();
    pod.mutable_metadata()->set_name(name);
    c.create(pod);
  }
  auto other = pod_of(R"({"hostNetwork":true,"containers":[{"name":"c","image":"x"}]})");
  other.mutable_metadata()->set_name("z");
  c.create(other);
  const auto before = c.find<Namespace>({}, "default")->copy_as<Namespace>();
  auto now = *before;
  (*now.mutable_metadata()->mutable_labels())[std::string{prefix} + "enforce"] = "baseline";
  const auto seen = evaluate(c, before.get(), now);
  CHECK(seen.verdict);
  CHECK(seen.said.warnings ==
        std::vector<std::string>{
            "existing pods in namespace \"default\" violate the new PodSecurity enforce level "
            "\"baseline:latest\"",
            "a (and 2 other pods): privileged", "z: host namespaces"});
  // In the other direction, nothing is checked.
  CHECK(evaluate(c, &now, *before).said.warnings.empty());
}

TEST_CASE("Namespaces, users and runtime classes are exempted by the configuration",
          "[podsecurity]") {
  const settings_guard guard{{.defaults = {.enforce = {pod_security::level::restricted, {}}},
                              .exempt_namespaces = {"kube-system"},
                              .exempt_users = {"bob"},
                              .exempt_runtime_classes = {"vm"}}};
  cluster c{1, without_controllers()};
  auto pod = privileged();
  CHECK_FALSE(evaluate(c, nullptr, pod).verdict);
  CHECK(evaluate(c, nullptr, pod, {}, {.name = "bob"}).verdict);
  pod.mutable_spec()->set_runtime_class_name("vm");
  CHECK(evaluate(c, nullptr, pod).verdict);
  pod = privileged();
  pod.mutable_metadata()->set_namespace_("kube-system");
  const auto spared = evaluate(c, nullptr, pod);
  CHECK(spared.verdict);
  CHECK(spared.said.annotations.at("pod-security.kubernetes.io/exempt") == "namespace");

  Namespace ns;
  ns.mutable_metadata()->set_name("kube-system");
  (*ns.mutable_metadata()->mutable_labels())[std::string{prefix} + "warn"] = "baseline";
  CHECK(evaluate(c, nullptr, ns).warning() ==
        "namespace \"kube-system\" is exempt from Pod Security, and the policy "
        "(enforce=restricted:latest, warn=baseline:latest) will be ignored");
}

}  // namespace troupe::test
