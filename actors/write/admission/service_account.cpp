// kubernetes: plugin/pkg/admission/serviceaccount, without the volume of its token.
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::core::v1::ServiceAccount;

constexpr const char* default_account = "default";

class service_account final : public plugin {
 public:
  std::string_view name() const noexcept override { return "ServiceAccount"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<Pod>();
  }

  // The default one is on its way where it is missing: every namespace is given it.
  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& spec = *static_cast<Pod&>(now).mutable_spec();
    if (spec.service_account_name().empty()) {
      // Under its old name too, as defaults do it for those who say it.
      spec.set_service_account_name(default_account);
      spec.set_service_account(default_account);
    }
    const auto& name = spec.service_account_name();
    if (name == default_account || of.state.find(api::kind_of<ServiceAccount>().key(of.ns(), name)))
      return {};
    return api::fail(forbidden(of, "error looking up service account " + of.ns() + "/" + name +
                                       ": serviceaccount \"" + name + "\" not found"));
  }
};

}  // namespace

plugin_ptr make_service_account() {
  return std::make_shared<service_account>();
}

}  // namespace troupe::actors::admission
