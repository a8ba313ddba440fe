// A pod runs as some account, by default as "default": 403 where there is none of that name. It is
// given a token of it unless pod or account say otherwise, and the account's imagePullSecrets where
// it has none (api_access.hpp).
//
// kubernetes: plugin/pkg/admission/serviceaccount.
#include "actors/write/admission/api_access.hpp"
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
    auto& pod = static_cast<Pod&>(now);
    auto& spec = *pod.mutable_spec();
    if (spec.service_account_name().empty()) {
      // Under its old name too, as defaults do it for those who say it.
      spec.set_service_account_name(default_account);
      spec.set_service_account(default_account);
    }
    const auto& name = spec.service_account_name();
    const auto found = of.state.find(api::kind_of<ServiceAccount>().key(of.ns(), name));
    if (!found && name != default_account)
      return api::fail(forbidden(of, "error looking up service account " + of.ns() + "/" + name +
                                         ": serviceaccount \"" + name + "\" not found"));
    const auto* account = found ? &found->as<ServiceAccount>() : nullptr;
    if (wants_token(pod, account) && gives_tokens(of.state)) mount_api_access(pod, salt(of));
    if (account != nullptr && spec.image_pull_secrets().empty())
      *spec.mutable_image_pull_secrets() = account->image_pull_secrets();
    return {};
  }

 private:
  // The same for the same write, as mutation may run again.
  static std::uint64_t salt(const attributes& of) {
    const std::hash<std::string_view> hash;
    return hash(of.ns()) ^ (hash(of.meta().generate_name()) * 3) ^ (hash(of.meta().name()) * 5) ^
           of.state.at();
  }
};

}  // namespace

plugin_ptr make_service_account() {
  return std::make_shared<service_account>();
}

}  // namespace troupe::actors::admission
