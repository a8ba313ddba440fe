#include "actors/core/admission.hpp"

#include <algorithm>
#include <string_view>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/scheme.hpp"
#include "api/validation/system_priorities.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::PodSpec;
using api::core::v1::ServiceAccount;
using api::scheduling::v1::PriorityClass;

constexpr const char* default_account = "default";

// kubernetes: plugin/pkg/admission/defaulttolerationseconds
constexpr std::int64_t default_toleration_seconds = 300;

api::expected<persistence::precondition> check_namespace(const persistence::snapshot& state,
                                                         const api::kind_info& kind,
                                                         const api::meta::v1::ObjectMeta& meta) {
  const auto& kind_of_namespace = api::kind_of<Namespace>();
  const auto key = kind_of_namespace.key({}, meta.namespace_());
  const auto found = state.find(key);
  if (!found) return api::fail(api::not_found(kind_of_namespace, meta.namespace_()));
  if (found->as<Namespace>().status().phase() == "Terminating") {
    auto refused = api::forbidden(kind, meta.name(),
                                  "unable to create new content in namespace " + meta.namespace_() +
                                      " because it is being terminated");
    refused.causes.push_back({"NamespaceTerminating",
                              "namespace " + meta.namespace_() + " is being terminated",
                              "metadata.namespace"});
    return api::fail(std::move(refused));
  }
  return persistence::precondition{key, found->revision()};
}

// The default one is on its way where it is missing: every namespace is given it.
api::expected<void> check_account(const persistence::snapshot& state, const Pod& pod) {
  const auto& name = pod.spec().service_account_name();
  const auto& ns = pod.metadata().namespace_();
  if (name == default_account || state.find(api::kind_of<ServiceAccount>().key(ns, name)))
    return {};
  return api::fail(api::forbidden(api::kind_of<Pod>(), pod.metadata().name(),
                                  "error looking up service account " + ns + "/" + name +
                                      ": serviceaccount \"" + name + "\" not found"));
}

bool tolerates(const PodSpec& spec, std::string_view taint) {
  return std::any_of(spec.tolerations().begin(), spec.tolerations().end(), [&](const auto& t) {
    return (t.key() == taint || t.key().empty()) &&
           (t.effect() == "NoExecute" || t.effect().empty());
  });
}

void add_toleration(PodSpec& spec, const char* taint) {
  if (tolerates(spec, taint)) return;
  auto& toleration = *spec.add_tolerations();
  toleration.set_key(taint);
  toleration.set_operator_("Exists");
  toleration.set_effect("NoExecute");
  toleration.set_toleration_seconds(default_toleration_seconds);
}

// Both belong to the class: a client may repeat them, not choose.
api::expected<void> set_priority(Pod& pod, std::int32_t value, std::string policy) {
  auto& spec = *pod.mutable_spec();
  if (policy.empty()) policy = "PreemptLowerPriority";
  const auto refused = [&](const std::string& given, const std::string& computed) {
    return api::fail(api::forbidden(
        api::kind_of<Pod>(), pod.metadata().name(),
        "the " + given +
            " must not be provided in pod spec; priority admission controller computed " +
            computed + " from the given PriorityClass name"));
  };
  if (spec.has_priority() && spec.priority() != value)
    return refused("integer value of priority (" + std::to_string(spec.priority()) + ")",
                   std::to_string(value));
  if (spec.has_preemption_policy() && spec.preemption_policy() != policy)
    return refused("string value of PreemptionPolicy (" + spec.preemption_policy() + ")", policy);
  spec.set_priority(value);
  spec.set_preemption_policy(policy);
  return {};
}

// The class that speaks for pods that name none; null when there is no such class. Of several,
// which requests at the same moment can make, the one of the lowest value.
api::object_ptr default_class(const persistence::snapshot& state) {
  api::object_ptr found;
  const auto prefix = api::kind_of<PriorityClass>().prefix();
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& candidate) {
    const auto& one = candidate->as<PriorityClass>();
    if (one.global_default() && (!found || one.value() < found->as<PriorityClass>().value()))
      found = candidate;
    return true;
  });
  return found;
}

api::expected<void> resolve_priority(const persistence::snapshot& state, Pod& pod) {
  auto& spec = *pod.mutable_spec();
  const std::string& name = spec.priority_class_name();
  if (const auto* known = api::find_system_priority(name))
    return set_priority(pod, known->value, {});
  api::object_ptr found;
  if (name.empty()) {
    found = default_class(state);
    if (!found) return set_priority(pod, 0, {});
    spec.set_priority_class_name(found->meta().name());
  } else {
    found = state.find(api::kind_of<PriorityClass>().key({}, name));
    if (!found)
      return api::fail(api::forbidden(api::kind_of<Pod>(), pod.metadata().name(),
                                      "no PriorityClass with name " + name + " was found"));
  }
  const auto& chosen = found->as<PriorityClass>();
  return set_priority(pod, chosen.value(), chosen.preemption_policy());
}

}  // namespace

api::expected<void> admit_write(const persistence::snapshot& state, const api::kind_info& kind,
                                const api::body& content) {
  if (&kind != &api::kind_of<PriorityClass>()) return {};
  const auto& made = static_cast<const PriorityClass&>(content);
  if (!made.global_default()) return {};
  const auto other = default_class(state);
  if (!other || other->meta().name() == made.metadata().name()) return {};
  return api::fail(api::forbidden(kind, made.metadata().name(),
                                  "PriorityClass " + other->meta().name() +
                                      " is already marked as default. Only one default can exist"));
}

api::expected<std::vector<persistence::precondition>> admit_create(
    const persistence::snapshot& state, const api::kind_info& kind, api::body& content) {
  std::vector<persistence::precondition> conditions;
  if (auto fine = admit_write(state, kind, content); !fine)
    return api::fail(std::move(fine.error()));
  if (!kind.namespaced()) return conditions;
  auto condition = check_namespace(state, kind, api::meta_of(content));
  if (!condition) return api::fail(std::move(condition.error()));
  conditions.push_back(std::move(*condition));

  if (&kind == &api::kind_of<Pod>()) {
    auto& pod = static_cast<Pod&>(content);
    auto& spec = *pod.mutable_spec();
    if (spec.service_account_name().empty()) {
      // Under its old name too, as defaults do it for those who say it.
      spec.set_service_account_name(default_account);
      spec.set_service_account(default_account);
    }
    if (auto there = check_account(state, pod); !there) return api::fail(std::move(there.error()));
    if (auto resolved = resolve_priority(state, pod); !resolved)
      return api::fail(std::move(resolved.error()));
    add_toleration(spec, "node.kubernetes.io/not-ready");
    add_toleration(spec, "node.kubernetes.io/unreachable");
  }
  return conditions;
}

}  // namespace troupe::actors
