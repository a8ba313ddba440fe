// Sets the default requests and limits of the namespace's LimitRanges in containers of a new pod,
// then checks pods and claims against them: 403 with all violations.
//
// kubernetes: plugin/pkg/admission/limitranger.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "actors/write/admission/limit_rules.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::LimitRange;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;

template <class Visit>
void for_each_range(const attributes& of, Visit visit) {
  of.state.scan(api::kind_of<LimitRange>().prefix(of.ns()), {},
                [&](std::string_view, const api::object_ptr& range) {
                  visit(range->as<LimitRange>());
                  return true;
                });
}

class limit_ranger final : public plugin {
 public:
  std::string_view name() const noexcept override { return "LimitRanger"; }

  // The resources of a pod change only by its subresource `resize`.
  bool handles(const api::kind_info& kind, operation op) const override {
    if (&kind == &api::kind_of<Pod>()) return op == operation::create;
    return &kind == &api::kind_of<PersistentVolumeClaim>() &&
           (op == operation::create || op == operation::update);
  }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return &kind == &api::kind_of<Pod>() && op == operation::update;
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    if (&of.kind == &api::kind_of<Pod>() && of.op == operation::create)
      for_each_range(of,
                     [&](const auto& range) { default_resources(range, static_cast<Pod&>(now)); });
    return {};
  }

  verdict validate(const attributes& of) const override {
    if (!of.subresource.empty() && of.subresource != "resize") return {};
    verdict result;
    for_each_range(of, [&](const auto& range) {
      if (!result) return;
      const auto found = breaches_of(range, of);
      if (found.size() == 1) result = api::fail(forbidden(of, found.front()));
      if (found.size() > 1)
        result = api::fail(forbidden(of, fmt::format("[{}]", fmt::join(found, ", "))));
    });
    return result;
  }

 private:
  static std::vector<std::string> breaches_of(const LimitRange& range, const attributes& of) {
    if (&of.kind == &api::kind_of<Pod>())
      return limit_violations(range, static_cast<const Pod&>(*of.now));
    const auto& spec = static_cast<const PersistentVolumeClaim&>(*of.now).spec();
    return claim_violations(range, api::read_resource_list(spec.resources().requests()));
  }
};

}  // namespace

plugin_ptr make_limit_ranger() {
  return std::make_shared<limit_ranger>();
}

}  // namespace troupe::actors::admission
