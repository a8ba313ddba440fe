#include "server/authorization.hpp"

#include <algorithm>
#include <array>

#include "server/authentication.hpp"
#include "server/console/page.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {
namespace {

// A path, or with a slash at the end everything below it.
bool matches(std::string_view path, std::string_view pattern) {
  if (pattern.ends_with('/')) return path.starts_with(pattern);
  return path == pattern;
}

template <std::size_t N>
bool matches_any(std::string_view path, const std::array<std::string_view, N>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [path](std::string_view pattern) { return matches(path, pattern); });
}

bool reads(const request_info& what) {
  return what.verb == "get" || what.verb == "head";
}

bool is_discovery(const request_info& what) {
  static constexpr std::array<std::string_view, 6> paths{"/api",   "/api/",    "/apis",
                                                         "/apis/", "/openapi", "/openapi/"};
  return !what.is_resource && reads(what) && matches_any(what.path, paths);
}

// What clients ask about themselves: `kubectl auth can-i`, `whoami`.
bool is_self_review(const request_info& what) {
  if (!what.is_resource || what.verb != "create" || !what.subresource.empty()) return false;
  if (what.group == "authentication.k8s.io") return what.resource == "selfsubjectreviews";
  return what.group == "authorization.k8s.io" && (what.resource == "selfsubjectaccessreviews" ||
                                                  what.resource == "selfsubjectrulesreviews");
}

api::error refusal(const user_info& user, const request_info& what) {
  api::error refused;
  refused.code = 403;
  refused.reason = "Forbidden";
  const auto who = "User \"" + user.name + "\" cannot " + what.verb;
  if (!what.is_resource) {
    refused.message = "forbidden: " + who + " path \"" + what.path + "\"";
    return refused;
  }
  refused.group = what.group;
  refused.kind = what.resource;
  refused.name = what.name;
  const auto resource = what.resource + (what.subresource.empty() ? "" : "/" + what.subresource);
  const auto subject = what.resource + (what.group.empty() ? "" : "." + what.group) +
                       (what.name.empty() ? "" : " \"" + what.name + "\"");
  refused.message =
      subject + " is forbidden: " + who + " resource \"" + resource + "\" in API group \"" +
      what.group + "\" " +
      (what.namespace_name.empty() ? "at the cluster scope"
                                   : "in the namespace \"" + what.namespace_name + "\"");
  return refused;
}

}  // namespace

bool is_public(const request_info& what) {
  static constexpr std::array<std::string_view, 8> paths{
      "/healthz", "/healthz/", "/livez", "/livez/", "/readyz", "/readyz/", "/version", "/version/"};
  return !what.is_resource && reads(what) && matches_any(what.path, paths);
}

verdict baseline_authorizer::judge(const user_info& user, const request_info& what) const {
  if (user.in_group(masters_group) || is_public(what)) return verdict::allow;
  // The page holds no data; what it shows is asked for with the user's credentials.
  if (!what.is_resource && reads(what) && is_console_page(what.path)) return verdict::allow;
  // A bootstrap token is good for joining and for nothing else.
  if ((is_discovery(what) || is_self_review(what)) && user.in_group(authenticated_group) &&
      !user.in_group(join_defaults::bootstrappers_group))
    return verdict::allow;
  return verdict::no_opinion;
}

authorization::authorization(std::vector<std::shared_ptr<const authorizer>> others)
    : authorizers_{std::make_shared<const baseline_authorizer>()} {
  authorizers_.insert(authorizers_.end(), others.begin(), others.end());
}

api::expected<void> authorization::check(const user_info& user, const request_info& what) const {
  for (const auto& each : authorizers_) {
    switch (each->judge(user, what)) {
      case verdict::allow:
        return {};
      case verdict::deny:
        return api::fail(refusal(user, what));
      case verdict::no_opinion:
        break;
    }
  }
  if (user.in_group(unauthenticated_group)) return api::fail(api::unauthorized());
  return api::fail(refusal(user, what));
}

}  // namespace troupe::server
