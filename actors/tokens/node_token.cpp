#include "actors/tokens/node_token.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "actors/access/pod_references.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Pod;
using api::core::v1::ServiceAccount;

std::string refusal(const api::object& pod, std::string_view node, const token_spec& request) {
  if (request.bound_uid != pod.meta().uid())
    return fmt::format(
        "the UID in the bound object reference ({}) does not match the UID in record. The object "
        "might have been deleted and then recreated",
        request.bound_uid);
  const auto& spec = pod.as<Pod>().spec();
  if (spec.node_name() != node)
    return "node requested token bound to a pod scheduled on a different node";
  if (spec.service_account_name() != request.account)
    return fmt::format("pod \"{}\" runs as another account", request.bound_name);
  if (request.audiences.size() > 1) return "node may only request 0 or 1 audiences";
  const auto audience = request.audiences.empty() ? std::string{} : request.audiences.front();
  const auto wanted = projected_tokens(pod.as<Pod>());
  if (std::none_of(wanted.begin(), wanted.end(),
                   [&](const projected_token& each) { return each.audience == audience; }))
    return fmt::format("audience \"{}\" not found in pod spec volume", audience);
  if (std::find(wanted.begin(), wanted.end(),
                projected_token{audience, request.expiration_seconds}) == wanted.end())
    return fmt::format("no volume of pod \"{}\" requests a token of {} seconds", request.bound_name,
                       request.expiration_seconds);
  return {};
}

}  // namespace

api::expected<void> may_request_token(const persistence::snapshot& state, std::string_view node,
                                      const token_spec& request) {
  const auto refuse = [&](std::string_view reason) {
    return api::fail(api::forbidden(api::kind_of<ServiceAccount>(), request.account, reason));
  };
  if (request.bound_kind != "Pod" || request.bound_api_version != "v1" ||
      request.bound_name.empty())
    return refuse("node requested token not bound to a pod");
  if (request.bound_uid.empty())
    return refuse("node requested token with a pod binding without a uid");
  const auto& kind = api::kind_of<Pod>();
  const auto pod = state.find(kind.key(request.ns, request.bound_name));
  if (!pod) return api::fail(api::not_found(kind, request.bound_name));
  if (const auto reason = refusal(*pod, node, request); !reason.empty()) return refuse(reason);
  return {};
}

}  // namespace troupe::actors
