#include "actors/tokens/bootstrap_token.hpp"

#include <algorithm>

#include "actors/core/labels.hpp"
#include "actors/tokens/expiration.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/text_parts.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::actors {

using api::core::v1::Secret;

namespace {

constexpr std::string_view name_prefix = "bootstrap-token-";
constexpr std::size_t id_size = 6;
constexpr std::size_t secret_size = 16;

// kubernetes: system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]
constexpr std::string_view group_prefix = "system:bootstrappers:";
constexpr std::size_t group_size = 256;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_part(std::string_view text, std::size_t size) {
  return text.size() == size && std::all_of(text.begin(), text.end(), is_lower_alnum);
}

bool is_group(std::string_view text) {
  if (!text.starts_with(group_prefix)) return false;
  text.remove_prefix(group_prefix.size());
  return !text.empty() && text.size() <= group_size && is_lower_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_alnum(c) || c == ':' || c == '-'; });
}

}  // namespace

std::optional<token_parts> split_token(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const token_parts parts{text.substr(0, dot), text.substr(dot + 1)};
  if (!is_part(parts.id, id_size) || !is_part(parts.secret, secret_size)) return std::nullopt;
  return parts;
}

std::string bootstrap_token_name(std::string_view id) {
  return std::string{name_prefix}.append(id);
}

std::optional<bootstrap_token> read_bootstrap_token(const api::object& secret) {
  const auto& content = secret.as<Secret>();
  const auto& meta = secret.meta();
  bootstrap_token found;
  found.id = find_or_empty(content.data(), "token-id");
  found.secret = find_or_empty(content.data(), "token-secret");
  if (content.type() != bootstrap_token_type || meta.namespace_() != bootstrap_token_namespace ||
      meta.name() != bootstrap_token_name(found.id) || meta.has_deletion_timestamp() ||
      !is_part(found.id, id_size) || !is_part(found.secret, secret_size))
    return std::nullopt;
  if (const auto text = find_or_empty(content.data(), "expiration"); !text.empty())
    found.expires = parse_expiration(text).value_or(token_time{});
  found.authenticates = find_or_empty(content.data(), "usage-bootstrap-authentication") == "true";
  const auto groups = api::parts_between(find_or_empty(content.data(), "auth-extra-groups"), ',');
  found.extra_groups.assign(groups.begin(), groups.end());
  found.description = find_or_empty(content.data(), "description");
  if (!std::all_of(found.extra_groups.begin(), found.extra_groups.end(), is_group))
    return std::nullopt;
  return found;
}

std::unique_ptr<Secret> write_bootstrap_token(const bootstrap_token& token) {
  auto made = std::make_unique<Secret>();
  made->mutable_metadata()->set_name(bootstrap_token_name(token.id));
  made->mutable_metadata()->set_namespace_(std::string{bootstrap_token_namespace});
  made->set_type(std::string{bootstrap_token_type});
  auto& data = *made->mutable_data();
  data["token-id"] = token.id;
  data["token-secret"] = token.secret;
  if (token.expires)
    data["expiration"] = api::format_time(
        std::chrono::floor<std::chrono::seconds>(*token.expires).time_since_epoch().count());
  if (token.authenticates) data["usage-bootstrap-authentication"] = "true";
  std::string groups;
  for (const auto& group : token.extra_groups)
    groups += (groups.empty() ? "" : ",") + group;
  if (!groups.empty()) data["auth-extra-groups"] = groups;
  if (!token.description.empty()) data["description"] = token.description;
  return made;
}

}  // namespace troupe::actors
