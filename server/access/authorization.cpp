#include "server/access/authorization.hpp"

#include <algorithm>
#include <array>

#include "server/access/authentication.hpp"
#include "server/access/public_paths.hpp"

namespace troupe::server {
namespace {

// A pattern is a path; with a trailing slash it includes all paths below.
bool matches(std::string_view path, std::string_view pattern) {
  if (pattern.ends_with('/')) return path.starts_with(pattern);
  return path == pattern;
}

template <std::size_t N>
bool matches_any(std::string_view path, const std::array<std::string_view, N>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [path](std::string_view pattern) { return matches(path, pattern); });
}

bool reads(const request_info& info) {
  return info.verb == "get" || info.verb == "head";
}

bool is_discovery(const request_info& info) {
  static constexpr std::array<std::string_view, 8> paths{
      "/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", issuer_path, issuer_keys_path};
  return !info.is_resource && reads(info) && matches_any(info.path, paths);
}

// Reviews of the client's own permissions: `kubectl auth can-i`, `whoami`.
bool is_self_review(const request_info& info) {
  if (!info.is_resource || info.verb != "create" || !info.subresource.empty()) return false;
  if (info.group == "authentication.k8s.io") return info.resource == "selfsubjectreviews";
  return info.group == "authorization.k8s.io" && (info.resource == "selfsubjectaccessreviews" ||
                                                  info.resource == "selfsubjectrulesreviews");
}

api::error refusal(const user_info& user, const request_info& info, const std::string& reason) {
  api::error refused;
  refused.code = 403;
  refused.reason = "Forbidden";
  const auto attempt = "User \"" + user.name + "\" cannot " + info.verb;
  if (!info.is_resource) {
    refused.message = "forbidden: " + attempt + " path \"" + info.path + "\"";
    if (!reason.empty()) refused.message += ": " + reason;
    return refused;
  }
  refused.group = info.group;
  refused.kind = info.resource;
  refused.name = info.name;
  const auto resource = info.resource + (info.subresource.empty() ? "" : "/" + info.subresource);
  const auto subject = info.resource + (info.group.empty() ? "" : "." + info.group) +
                       (info.name.empty() ? "" : " \"" + info.name + "\"");
  refused.message =
      subject + " is forbidden: " + attempt + " resource \"" + resource + "\" in API group \"" +
      info.group + "\" " +
      (info.namespace_name.empty() ? "at the cluster scope"
                                   : "in the namespace \"" + info.namespace_name + "\"");
  if (!reason.empty()) refused.message += ": " + reason;
  return refused;
}

}  // namespace

bool is_public(const request_info& info) {
  return !info.is_resource && reads(info) && matches_any(info.path, public_paths);
}

decision baseline_authorizer::authorize(const user_info& user, const request_info& info,
                                        std::string*) const {
  if (user.in_group(masters_group) || is_public(info)) return decision::allow;
  if (!info.is_resource && reads(info) && is_console_page(info.path)) return decision::allow;
  // A bootstrap token allows joining and nothing else.
  if ((is_discovery(info) || is_self_review(info)) && user.in_group(authenticated_group) &&
      !user.in_group(bootstrappers_group))
    return decision::allow;
  return decision::no_opinion;
}

void baseline_authorizer::list(const user_info& user, std::string_view,
                               api::authorization::v1::SubjectRulesReviewStatus& into) const {
  if (!user.in_group(masters_group)) return;
  auto& objects = *into.add_resource_rules();
  objects.add_verbs("*");
  objects.add_api_groups("*");
  objects.add_resources("*");
  auto& paths = *into.add_non_resource_rules();
  paths.add_verbs("*");
  paths.add_non_resource_ur_ls("*");
}

authorization::authorization(std::vector<std::shared_ptr<const authorizer>> others)
    : authorizers_{std::make_shared<const baseline_authorizer>()} {
  authorizers_.insert(authorizers_.end(), others.begin(), others.end());
}

decision authorization::decide(const user_info& user, const request_info& info,
                               std::string* reason) const {
  for (const auto& each : authorizers_)
    if (const auto decided = each->authorize(user, info, reason); decided != decision::no_opinion)
      return decided;
  return decision::no_opinion;
}

// Finding reasons costs more than the decision, so it is done for refusals only.
api::expected<void> authorization::check(const user_info& user, const request_info& info) const {
  if (decide(user, info, nullptr) == decision::allow) return {};
  return api::fail(refusal(user, info, evaluate(user, info).reason));
}

authorization::authorization_result authorization::evaluate(const user_info& user,
                                                            const request_info& info) const {
  authorization_result out;
  out.decided = decide(user, info, &out.reason);
  return out;
}

void authorization::list(const user_info& user, std::string_view ns,
                         api::authorization::v1::SubjectRulesReviewStatus& into) const {
  for (const auto& each : authorizers_)
    each->list(user, ns, into);
}

}  // namespace troupe::server
