#include "server/access/impersonation.hpp"

#include <memory>
#include <optional>

#include "server/access/authentication.hpp"
#include "server/http/query.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view extra_prefix = "impersonate-extra-";
constexpr std::string_view accounts_prefix = "system:serviceaccount:";
constexpr std::string_view accounts_group = "system:serviceaccounts";

request_info leave_for(std::string group, std::string resource, std::string name) {
  request_info out;
  out.is_resource = true;
  out.verb = "impersonate";
  out.group = std::move(group);
  out.resource = std::move(resource);
  out.name = std::move(name);
  return out;
}

// The namespace and the name in "system:serviceaccount:NAMESPACE:NAME".
std::optional<std::pair<std::string, std::string>> account_of(std::string_view user) {
  if (!user.starts_with(accounts_prefix)) return std::nullopt;
  user.remove_prefix(accounts_prefix.size());
  const auto colon = user.find(':');
  if (colon == 0 || colon >= user.size() - 1 || user.find(':', colon + 1) != user.npos)
    return std::nullopt;
  return std::pair{std::string{user.substr(0, colon)}, std::string{user.substr(colon + 1)}};
}

// The user that the headers describe, and the permissions that impersonating it needs.
struct demand {
  user_info user;
  std::vector<request_info> leaves;
};

void name_user(demand& out) {
  const auto account = account_of(out.user.name);
  if (!account) return out.leaves.push_back(leave_for("", "users", out.user.name));
  auto leave = leave_for("", "serviceaccounts", account->second);
  leave.namespace_name = account->first;
  out.leaves.push_back(std::move(leave));
  if (out.user.groups.empty())
    out.user.groups = {std::string{accounts_group},
                       std::string{accounts_group} + ":" + account->first};
}

demand read(const header_block& headers) {
  static const std::string extras_group = "authentication.k8s.io";
  demand out;
  out.user.name = headers.get("impersonate-user");
  out.user.uid = headers.get("impersonate-uid");
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto name = headers.name(i);
    const auto value = headers.value(i);
    if (name == "impersonate-group") {
      out.user.groups.emplace_back(value);
      out.leaves.push_back(leave_for("", "groups", std::string{value}));
    } else if (name.starts_with(extra_prefix)) {
      const auto key = percent_decode(name.substr(extra_prefix.size()));
      out.user.extra[key].emplace_back(value);
      out.leaves.push_back(leave_for(extras_group, "userextras", std::string{value}));
      out.leaves.back().subresource = key;
    }
  }
  if (!out.user.uid.empty()) out.leaves.push_back(leave_for(extras_group, "uids", out.user.uid));
  if (!out.user.name.empty()) name_user(out);
  return out;
}

// Adds the groups that authentication would have added, unless the headers name them.
void complete_groups(user_info& user) {
  const bool known = user.in_group(authenticated_group) || user.in_group(unauthenticated_group);
  if (user.name == anonymous()->name) {
    if (!user.in_group(unauthenticated_group)) user.groups.emplace_back(unauthenticated_group);
  } else if (!known) {
    user.groups.emplace_back(authenticated_group);
  }
}

}  // namespace

api::expected<user_ptr> impersonated(const header_block& headers, const user_info& by,
                                     const authorization& may) {
  auto asked_user = read(headers);
  if (asked_user.leaves.empty()) return nullptr;
  if (asked_user.user.name.empty()) {
    const auto& leaf = asked_user.leaves.front();
    return api::fail(api::bad_request("requested " + leaf.resource + " \"" + leaf.name +
                                      "\" without impersonating a user"));
  }
  for (const auto& leave : asked_user.leaves)
    if (auto allowed = may.check(by, leave); !allowed) return api::fail(std::move(allowed.error()));
  complete_groups(asked_user.user);
  return std::make_shared<const user_info>(std::move(asked_user.user));
}

}  // namespace troupe::server
