// Sets the priority and preemption policy of a pod from its PriorityClass: 403 for an unknown class
// and for other values. An update that leaves them out keeps them. Only one class can be the
// default; system classes cannot be deleted.
//
// kubernetes: plugin/pkg/admission/priority.
#include <string>
#include <utility>

#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/scheme.hpp"
#include "api/validation/system_priorities.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::scheduling::v1::PriorityClass;

// The default class for pods that name none; null if there is none. Concurrent requests can create
// several: then the one with the lowest value.
api::object_ptr default_class(const persistence::snapshot& state) {
  api::object_ptr found;
  static const auto prefix = api::kind_of<PriorityClass>().prefix();
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& candidate) {
    const auto& one = candidate->as<PriorityClass>();
    if (one.global_default() && (!found || one.value() < found->as<PriorityClass>().value()))
      found = candidate;
    return true;
  });
  return found;
}

// Both values belong to the class: a client may repeat them, but not choose others.
verdict set_priority(const attributes& of, api::core::v1::PodSpec& spec, std::int32_t value,
                     std::string policy) {
  if (policy.empty()) policy = "PreemptLowerPriority";
  const auto refused = [&](const std::string& given, const std::string& computed) {
    return api::fail(forbidden(
        of, "the " + given +
                " must not be provided in pod spec; priority admission controller computed " +
                computed + " from the given PriorityClass name"));
  };
  if (spec.has_priority() && spec.priority() != value)
    return refused("integer value of priority (" + std::to_string(spec.priority()) + ")",
                   std::to_string(value));
  if (spec.has_preemption_policy() && spec.preemption_policy() != policy)
    return refused("string value of PreemptionPolicy (" + spec.preemption_policy() + ")", policy);
  spec.set_priority(value);
  spec.set_preemption_policy(std::move(policy));
  return {};
}

verdict resolve(const attributes& of, api::core::v1::PodSpec& spec) {
  const std::string& name = spec.priority_class_name();
  if (const auto* known = api::find_system_priority(name))
    return set_priority(of, spec, known->value, {});
  api::object_ptr found;
  if (name.empty()) {
    found = default_class(of.state);
    if (!found) return set_priority(of, spec, 0, {});
    spec.set_priority_class_name(found->meta().name());
  } else {
    found = of.state.find(api::kind_of<PriorityClass>().key({}, name));
    if (!found)
      return api::fail(forbidden(of, "no PriorityClass with name " + name + " was found"));
  }
  const auto& chosen = found->as<PriorityClass>();
  return set_priority(of, spec, chosen.value(), chosen.preemption_policy());
}

void keep(const api::core::v1::PodSpec& was, api::core::v1::PodSpec& now) {
  if (!now.has_priority() && was.has_priority()) now.set_priority(was.priority());
  if (!now.has_preemption_policy() && was.has_preemption_policy())
    now.set_preemption_policy(was.preemption_policy());
}

class priority final : public plugin {
 public:
  std::string_view name() const noexcept override { return "Priority"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    if (&kind == &api::kind_of<Pod>()) return op == operation::create || op == operation::update;
    return &kind == &api::kind_of<PriorityClass>() && op != operation::connect;
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    if (&of.kind != &api::kind_of<Pod>()) return {};
    if (!of.subresource.empty()) return {};
    auto& spec = *static_cast<Pod&>(now).mutable_spec();
    if (of.op == operation::create) return resolve(of, spec);
    keep(static_cast<const Pod&>(*of.before).spec(), spec);
    return {};
  }

  verdict validate(const attributes& of) const override {
    if (&of.kind != &api::kind_of<PriorityClass>()) return {};
    if (of.op == operation::remove) return keep_system_class(of);
    if (!static_cast<const PriorityClass&>(*of.now).global_default()) return {};
    const auto other = default_class(of.state);
    if (!other || other->meta().name() == of.name()) return {};
    return api::fail(
        forbidden(of, "PriorityClass " + other->meta().name() +
                          " is already marked as default. Only one default can exist"));
  }

 private:
  // kubernetes: pkg/registry/scheduling/priorityclass/storage.
  static verdict keep_system_class(const attributes& of) {
    if (api::find_system_priority(of.name()) == nullptr) return {};
    return api::fail(forbidden(of, "this is a system priority class and cannot be deleted"));
  }
};

}  // namespace

plugin_ptr make_priority() {
  return std::make_shared<priority>();
}

}  // namespace troupe::actors::admission
