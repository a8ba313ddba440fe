// Sets the service account of a pod, by default "default": 403 if it does not exist. Adds a token
// volume unless pod or account disable it, and the account's imagePullSecrets if the pod has none
// (api_access.hpp).
//
// kubernetes: plugin/pkg/admission/serviceaccount.
#include <algorithm>

#include "actors/access/pod_references.hpp"
#include "actors/write/admission/api_access.hpp"
#include "actors/write/admission/mountable_secrets.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
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
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<Pod>();
  }

  verdict validate(const attributes& of) const override {
    const auto& pod = static_cast<const Pod&>(*of.now);
    if (of.op == operation::create && is_mirror(pod)) return check_mirror(of, pod);
    if (!of.subresource.empty() && of.subresource != "ephemeralcontainers") return {};
    const auto& name = pod.spec().service_account_name();
    const auto account = of.state.find(api::kind_of<ServiceAccount>().key(of.ns(), name));
    if (!account || !limits_secrets(account->as<ServiceAccount>())) return {};
    const auto problem = of.op == operation::create
                             ? find_forbidden_secret(account->as<ServiceAccount>(), pod)
                             : find_forbidden_addition(account->as<ServiceAccount>(), pod);
    if (problem.empty()) return {};
    return api::fail(forbidden(of, problem));
  }

  // A missing default account is only late: every namespace gets one.
  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& pod = static_cast<Pod&>(now);
    if (of.op != operation::create || is_mirror(pod)) return {};
    auto& spec = *pod.mutable_spec();
    if (spec.service_account_name().empty()) {
      // Also sets the deprecated field, as defaulting does for pods that name an account.
      spec.set_service_account_name(default_account);
      spec.set_service_account(default_account);
    }
    const auto& name = spec.service_account_name();
    const auto found = of.state.find(api::kind_of<ServiceAccount>().key(of.ns(), name));
    if (!found && name != default_account)
      return api::fail(forbidden(of, "error looking up service account " + of.ns() + "/" + name +
                                         ": serviceaccount \"" + name + "\" not found"));
    const auto* account = found ? &found->as<ServiceAccount>() : nullptr;
    if (wants_token(pod, account) && mounts_tokens(of.state)) mount_api_access(pod, salt(of));
    if (account != nullptr && spec.image_pull_secrets().empty())
      *spec.mutable_image_pull_secrets() = account->image_pull_secrets();
    return {};
  }

 private:
  static verdict check_mirror(const attributes& of, const Pod& pod) {
    if (!pod.spec().service_account_name().empty())
      return api::fail(forbidden(of, "a mirror pod may not reference service accounts"));
    const auto keys = used_keys(pod);
    const auto& secrets = api::kind_of<api::core::v1::Secret>().prefix();
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const std::string& key) { return key.starts_with(secrets); }))
      return api::fail(forbidden(of, "a mirror pod may not reference secrets"));
    if (!projected_tokens(pod).empty())
      return api::fail(
          forbidden(of, "a mirror pod may not use projected service account token volumes"));
    return {};
  }

  // Deterministic, because mutation may run again for the same write.
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
