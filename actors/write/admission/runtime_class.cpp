// Sets the overhead and node selector of a pod from its RuntimeClass: 403 for an
// unknown class, another overhead than that of the class, and a conflicting node
// selector.
//
// kubernetes: plugin/pkg/admission/runtimeclass.
#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "actors/write/admission/plugins.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/node_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::core::v1::PodSpec;
using api::node::v1::RuntimeClass;
using api::node::v1::Scheduling;

constexpr const char* other_overhead =
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
constexpr const char* stray_overhead =
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

bool same_overhead(const PodSpec& spec, const RuntimeClass& of_class) {
  return api::read_resource_list(spec.overhead()) ==
         api::read_resource_list(of_class.overhead().pod_fixed());
}

bool has(const PodSpec& spec, const api::core::v1::Toleration& wanted) {
  return std::any_of(spec.tolerations().begin(), spec.tolerations().end(), [&](const auto& each) {
    return google::protobuf::util::MessageDifferencer::Equals(each, wanted);
  });
}

verdict keep_to_nodes(const attributes& of, const Scheduling& wanted, PodSpec& spec) {
  auto& selector = *spec.mutable_node_selector();
  for (const auto& [key, value] : wanted.node_selector()) {
    const auto found = selector.find(key);
    if (found != selector.end() && found->second != value)
      return api::fail(
          forbidden(of, fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; "
                                    "pod.spec.nodeSelector[{0}] = {2}",
                                    key, value, found->second)));
  }
  for (const auto& [key, value] : wanted.node_selector())
    selector[key] = value;
  for (const auto& toleration : wanted.tolerations())
    if (!has(spec, toleration)) *spec.add_tolerations() = toleration;
  return {};
}

class runtime_class final : public plugin {
 public:
  std::string_view name() const noexcept override { return "RuntimeClass"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<Pod>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& spec = *static_cast<Pod&>(now).mutable_spec();
    if (spec.runtime_class_name().empty()) return {};
    const auto found = find(of, spec);
    if (!found)
      return api::fail(forbidden(of, fmt::format("pod rejected: RuntimeClass \"{}\" not found",
                                                 spec.runtime_class_name())));
    const auto& chosen = found->as<RuntimeClass>();
    if (chosen.has_overhead()) {
      if (!spec.overhead().empty() && !same_overhead(spec, chosen))
        return api::fail(forbidden(of, other_overhead));
      *spec.mutable_overhead() = chosen.overhead().pod_fixed();
    }
    return chosen.has_scheduling() ? keep_to_nodes(of, chosen.scheduling(), spec) : verdict{};
  }

  verdict validate(const attributes& of) const override {
    const auto& spec = static_cast<const Pod&>(*of.now).spec();
    if (spec.overhead().empty()) return {};
    const auto found = spec.runtime_class_name().empty() ? nullptr : find(of, spec);
    if (!found || !found->as<RuntimeClass>().has_overhead())
      return api::fail(forbidden(of, stray_overhead));
    if (!same_overhead(spec, found->as<RuntimeClass>()))
      return api::fail(forbidden(of, other_overhead));
    return {};
  }

 private:
  static api::object_ptr find(const attributes& of, const PodSpec& spec) {
    return of.state.find(api::kind_of<RuntimeClass>().key({}, spec.runtime_class_name()));
  }
};

}  // namespace

plugin_ptr make_runtime_class() {
  return std::make_shared<runtime_class>();
}

}  // namespace troupe::actors::admission
