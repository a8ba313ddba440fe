// The containers of a pod must specify the resources that quotas of its namespace limit: 403.
//
// kubernetes: apiserver/pkg/admission/plugin/resourcequota; the remaining amount is checked later,
// with the transaction (actors/quota/quota_ledger.hpp).
#include "actors/quota/quota_usage.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::core::v1::ResourceQuota;

class resource_quota final : public plugin {
 public:
  std::string_view name() const noexcept override { return "ResourceQuota"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<Pod>();
  }

  verdict validate(const attributes& of) const override {
    verdict result;
    const auto& pod = static_cast<const Pod&>(*of.now);
    of.state.scan(
        api::kind_of<ResourceQuota>().prefix(of.ns()), {},
        [&](std::string_view, const api::object_ptr& object) {
          const auto unnamed = quota::unnamed_resources(object->as<ResourceQuota>().spec(), pod);
          if (unnamed.empty()) return true;
          result =
              api::fail(forbidden(of, "failed quota: " + object->meta().name() + ": " + unnamed));
          return false;
        });
    return result;
  }
};

}  // namespace

plugin_ptr make_resource_quota() {
  return std::make_shared<resource_quota>();
}

}  // namespace troupe::actors::admission
