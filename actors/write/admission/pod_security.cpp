// Enforces the Pod Security Standards at the level of the namespace's labels: 403 with all
// violations if the level is enforced, a warning or an audit annotation for the other modes.
// Workloads are warned about their template, and their pods are rejected. Invalid labels are 422;
// existing pods that violate a new level are a warning.
//
// kubernetes: plugin/pkg/admission/security/podsecurity, pod-security-admission/admission.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "actors/write/admission/plugins.hpp"
#include "actors/write/pod_security/evaluate.hpp"
#include "actors/write/pod_security/existing_pods.hpp"
#include "actors/write/pod_security/pod_template.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using pod_security::level;
using pod_security::level_version;

// Subresources that do not change the running pod. All others are checked, unknown ones too.
constexpr std::array<std::string_view, 8> harmless_parts{
    "exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"};

constexpr std::string_view audit_prefix = "pod-security.kubernetes.io/";

// -- what an update of a pod changes --------------------------------------------------------------

template <class Containers>
bool same_images(const Containers& now, const Containers& before) {
  return std::equal(now.begin(), now.end(), before.begin(), before.end(),
                    [](const auto& a, const auto& b) { return a.image() == b.image(); });
}

// The profiles that pods before 1.19 named in annotations.
bool same_profiles(const Pod& now, const Pod& before) {
  const auto covers = [](const auto& some, const auto& others) {
    return std::all_of(some.begin(), some.end(), [&](const auto& one) {
      if (one.first.find("seccomp.security.alpha.kubernetes.io/") == std::string::npos) return true;
      const auto found = others.find(one.first);
      return found != others.end() && found->second == one.second;
    });
  };
  const auto& a = now.metadata().annotations();
  const auto& b = before.metadata().annotations();
  return covers(a, b) && covers(b, a);
}

bool same_ephemeral(const Pod& now, const Pod& before) {
  const auto& a = now.spec().ephemeral_containers();
  const auto& b = before.spec().ephemeral_containers();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.ephemeral_container_common().image() == y.ephemeral_container_common().image() &&
           x.ephemeral_container_common().name() == y.ephemeral_container_common().name();
  });
}

// True if an update changes fields that the standards cover.
bool is_significant(const Pod& now, const Pod& before) {
  return !same_images(now.spec().containers(), before.spec().containers()) ||
         !same_images(now.spec().init_containers(), before.spec().init_containers()) ||
         !same_ephemeral(now, before) || !same_profiles(now, before);
}

class pod_security_plugin final : public plugin {
 public:
  explicit pod_security_plugin(const pod_security::configuration& settings) : settings_{settings} {}

  std::string_view name() const noexcept override { return "PodSecurity"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    if (op != operation::create && op != operation::update) return false;
    return &kind == &api::kind_of<Pod>() || &kind == &api::kind_of<Namespace>() ||
           pod_security::has_pod_template(kind);
  }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return &kind == &api::kind_of<Pod>() && op == operation::update;
  }

  verdict validate(const attributes& of) const override {
    if (&of.kind == &api::kind_of<Namespace>()) return check_namespace(of);
    if (settings_.exempts_namespace(of.ns())) return spare(of, "namespace");
    if (settings_.exempts_user(of.by.name)) return spare(of, "user");
    return &of.kind == &api::kind_of<Pod>() ? check_pod(of) : check_template(of);
  }

 private:
  static verdict spare(const attributes& of, const char* reason) {
    of.annotate(std::string{audit_prefix} + "exempt", reason);
    return {};
  }

  // -- namespaces ---------------------------------------------------------------------------------

  verdict check_namespace(const attributes& of) const {
    auto [now, problems] = pod_security::policy_of(of.meta(), settings_.defaults);
    if (of.op == operation::create) {
      if (!problems.empty()) return invalid(of, std::move(problems));
      warn_if_spared(of, now);
      return {};
    }
    const auto [was, old_problems] =
        pod_security::policy_of(api::meta_of(*of.before), settings_.defaults);
    const bool same = std::equal(
        problems.begin(), problems.end(), old_problems.begin(), old_problems.end(),
        [](const auto& a, const auto& b) { return a.field == b.field && a.message == b.message; });
    if (!problems.empty() && !same) return invalid(of, std::move(problems));
    if (settings_.exempts_namespace(of.meta().name())) {
      if (now != was) warn_if_spared(of, now);
      return {};
    }
    const bool stricter =
        now.enforce.version != was.enforce.version || now.enforce.level > was.enforce.level;
    if (stricter && now.enforce.level != level::privileged) warn_of_pods(of, now.enforce);
    return {};
  }

  static verdict invalid(const attributes& of, std::vector<api::error_cause> problems) {
    return api::fail(api::invalid(of.kind, of.meta().name(), std::move(problems)));
  }

  void warn_if_spared(const attributes& of, const pod_security::policy& now) const {
    if (!settings_.exempts_namespace(of.meta().name()) || now.is_privileged() ||
        now == settings_.defaults)
      return;
    of.warn(
        fmt::format("namespace \"{}\" is exempt from Pod Security, and the policy ({}) will be "
                    "ignored",
                    of.meta().name(), to_string(now)));
  }

  void warn_of_pods(const attributes& of, const level_version& demanded) const {
    pod_security::existing_pods pods{demanded, settings_};
    of.state.scan(api::kind_of<Pod>().prefix(of.meta().name()), {},
                  [&](std::string_view, const api::object_ptr& pod) {
                    pods.add(pod->as<Pod>());
                    return true;
                  });
    for (auto& text : pods.warnings(of.meta().name()))
      of.warn(std::move(text));
  }

  // -- pods and their templates -------------------------------------------------------------------

  pod_security::policy policy_of_namespace(const attributes& of) const {
    const auto found = of.state.find(api::kind_of<Namespace>().key({}, of.ns()));
    return found ? pod_security::policy_of(found->meta(), settings_.defaults).policy
                 : settings_.defaults;
  }

  verdict check_pod(const attributes& of) const {
    if (std::find(harmless_parts.begin(), harmless_parts.end(), of.subresource) !=
        harmless_parts.end())
      return {};
    const auto policy = policy_of_namespace(of);
    if (policy.is_privileged()) return {};
    const auto& pod = static_cast<const Pod&>(*of.now);
    if (of.op == operation::update && !is_significant(pod, static_cast<const Pod&>(*of.before)))
      return {};
    return check(of, policy, {pod.metadata(), pod.spec()}, true);
  }

  verdict check_template(const attributes& of) const {
    const auto policy = policy_of_namespace(of);
    if (policy.warn.level == level::privileged && policy.audit.level == level::privileged)
      return {};
    const auto* made_from = pod_security::pod_template_of(of.kind, *of.now);
    if (made_from == nullptr) return {};
    return check(of, policy, {made_from->metadata(), made_from->spec()}, false);
  }

  verdict check(const attributes& of, const pod_security::policy& policy,
                const pod_security::subject& pod, bool enforced) const {
    if (settings_.exempts_class(pod.spec)) return spare(of, "runtimeClass");
    const auto audited = evaluate(policy.audit, pod);
    if (!audited.empty())
      of.annotate(std::string{audit_prefix} + "audit-violations",
                  fmt::format("would violate PodSecurity \"{}\": {}", to_string(policy.audit),
                              details_of(audited)));
    if (enforced) {
      of.annotate(std::string{audit_prefix} + "enforce-policy", to_string(policy.enforce));
      if (const auto found = evaluate(policy.enforce, pod); !found.empty())
        return api::fail(forbidden(of, fmt::format("violates PodSecurity \"{}\": {}",
                                                   to_string(policy.enforce), details_of(found))));
    }
    if (const auto found = evaluate(policy.warn, pod); !found.empty())
      of.warn(fmt::format("would violate PodSecurity \"{}\": {}", to_string(policy.warn),
                          details_of(found)));
    return {};
  }

  const pod_security::configuration& settings_;
};

}  // namespace

plugin_ptr make_pod_security() {
  return std::make_shared<pod_security_plugin>(pod_security::configured());
}

}  // namespace troupe::actors::admission
