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

std::string refusal(const api::object& pod, std::string_view node, const token_order& order) {
  if (order.bound_uid != pod.meta().uid())
    return fmt::format(
        "the UID in the bound object reference ({}) does not match the UID in record. The object "
        "might have been deleted and then recreated",
        order.bound_uid);
  const auto& spec = pod.as<Pod>().spec();
  if (spec.node_name() != node)
    return "node requested token bound to a pod scheduled on a different node";
  if (spec.service_account_name() != order.account)
    return fmt::format("pod \"{}\" runs as another account", order.bound_name);
  if (order.audiences.size() > 1) return "node may only request 0 or 1 audiences";
  const auto audience = order.audiences.empty() ? std::string{} : order.audiences.front();
  const auto wanted = projected_tokens(pod.as<Pod>());
  if (std::none_of(wanted.begin(), wanted.end(),
                   [&](const projected_token& each) { return each.audience == audience; }))
    return fmt::format("audience \"{}\" not found in pod spec volume", audience);
  if (std::find(wanted.begin(), wanted.end(),
                projected_token{audience, order.expiration_seconds}) == wanted.end())
    return fmt::format("no volume of pod \"{}\" requests a token of {} seconds", order.bound_name,
                       order.expiration_seconds);
  return {};
}

}  // namespace

api::expected<void> may_request_token(const persistence::snapshot& state, std::string_view node,
                                      const token_order& order) {
  const auto refuse = [&](std::string_view reason) {
    return api::fail(api::forbidden(api::kind_of<ServiceAccount>(), order.account, reason));
  };
  if (order.bound_kind != "Pod" || order.bound_api_version != "v1" || order.bound_name.empty())
    return refuse("node requested token not bound to a pod");
  if (order.bound_uid.empty())
    return refuse("node requested token with a pod binding without a uid");
  const auto& kind = api::kind_of<Pod>();
  const auto pod = state.find(kind.key(order.ns, order.bound_name));
  if (!pod) return api::fail(api::not_found(kind, order.bound_name));
  if (const auto reason = refusal(*pod, node, order); !reason.empty()) return refuse(reason);
  return {};
}

}  // namespace troupe::actors
