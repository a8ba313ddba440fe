#include "server/access/authentication.hpp"

#include <algorithm>
#include <optional>

#include "server/access/socket_token.hpp"

namespace troupe::server {
namespace {

user_ptr with_group(user_ptr user, std::string_view group) {
  if (user->in_group(group)) return user;
  auto copy = *user;
  copy.groups.emplace_back(group);
  return std::make_shared<const user_info>(std::move(copy));
}

bool is_bearer(std::string_view scheme) {
  static constexpr std::string_view bearer = "bearer";
  return std::equal(scheme.begin(), scheme.end(), bearer.begin(), bearer.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

// The token of an Authorization header; 401 for other credentials.
api::expected<std::string> header_token(std::string_view credentials) {
  const auto blank = credentials.find(' ');
  if (blank == std::string_view::npos || !is_bearer(credentials.substr(0, blank)))
    return api::fail(api::unauthorized());
  auto token = credentials.substr(blank + 1);
  while (token.starts_with(' '))
    token.remove_prefix(1);
  return std::string{token};
}

// The request's bearer token; nullopt if it has no credentials but those of its connection.
api::expected<std::optional<std::string>> token_of(const request& head) {
  const auto credentials = head.headers.get("authorization");
  auto token = credentials.empty() ? socket_token(head) : header_token(credentials);
  if (!token) return api::fail(std::move(token.error()));
  if (credentials.empty() && token->empty()) return std::nullopt;
  return std::move(*token);
}

}  // namespace

user_ptr user_of_certificate(std::string common_name, std::vector<std::string> organizations) {
  return with_group(std::make_shared<const user_info>(
                        user_info{std::move(common_name), {}, std::move(organizations)}),
                    authenticated_group);
}

const user_ptr& anonymous() {
  static const user_ptr nobody = std::make_shared<const user_info>(
      user_info{"system:anonymous", {}, {std::string(unauthenticated_group)}});
  return nobody;
}

authenticator::authenticator(std::vector<std::shared_ptr<const token_source>> sources,
                             bool anonymous_access,
                             std::shared_ptr<const certificate_check> certificates)
    : sources_{std::move(sources)},
      anonymous_access_{anonymous_access},
      certificates_{std::move(certificates)} {}

api::expected<user_ptr> authenticator::authenticate(const request& head) const {
  if (const auto& user = head.connection->certificate_user) {
    if (certificates_ != nullptr)
      if (auto good = certificates_->check(head); !good) return api::fail(good.error());
    return user;
  }
  const auto token = token_of(head);
  if (!token) return api::fail(token.error());
  if (*token) return bearer(**token);
  if (!head.connection->certificate_error.empty() || !anonymous_access_)
    return api::fail(api::unauthorized());
  return anonymous();
}

api::expected<user_ptr> authenticator::bearer(std::string_view token) const {
  for (const auto& source : sources_) {
    if (auto user = source->find(token)) return with_group(std::move(user), authenticated_group);
  }
  return api::fail(api::unauthorized());
}

const token_source* authenticator::source_of_new_token(const request& head) const {
  if (head.connection->certificate_user) return nullptr;
  const auto token = token_of(head);
  if (!token || !*token) return nullptr;
  for (const auto& source : sources_)
    if (source->is_new(**token)) return source.get();
  return nullptr;
}

token_owner authenticator::owner_of(std::string_view token,
                                    const std::vector<std::string>& audiences) const {
  for (const auto& source : sources_) {
    auto found = source->find_for(token, audiences);
    if (!found.user) continue;
    found.user = with_group(std::move(found.user), authenticated_group);
    return found;
  }
  return {};
}

}  // namespace troupe::server
