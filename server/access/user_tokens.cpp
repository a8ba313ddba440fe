#include "server/access/user_tokens.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "actors/core/labels.hpp"
#include "actors/tokens/expiration.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/values/text_parts.hpp"
#include "api/values/timestamp.hpp"
#include "server/credentials/base64url.hpp"
#include "server/credentials/es256.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Secret;

constexpr std::string_view name_prefix = "troupe-user-";
constexpr std::string_view reserved_prefix = "system:";
constexpr std::size_t name_letters = 20;  // length of the part from the hash of the user's name
constexpr std::size_t random_bytes = 32;
constexpr std::size_t longest_name = 256;

std::string hex_sha256(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : es256::sha256(text)) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

// The name of the Secret in a token; empty if the token has another form.
std::string_view secret_of(std::string_view token) {
  const auto name = token.substr(0, std::min(token.find('.'), token.size()));
  const bool fits = name.size() == name_prefix.size() + name_letters &&
                    name.starts_with(name_prefix) && name.size() < token.size();
  return fits ? name : std::string_view{};
}

std::vector<std::string> lines_of(std::string_view text) {
  const auto lines = api::parts_between(text, '\n');
  return {lines.begin(), lines.end()};
}

}  // namespace

tl::expected<void, std::string> check_user_name(std::string_view name) {
  const auto refuse = [&](const char* reason) {
    return tl::make_unexpected("\"" + std::string{name} + "\" " + reason);
  };
  if (name.empty() || name.size() > longest_name) return refuse("must have 1 to 256 letters");
  if (name.starts_with(reserved_prefix)) return refuse("must not begin with \"system:\"");
  const auto bad = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (std::any_of(name.begin(), name.end(), bad)) return refuse("must have no control letters");
  return {};
}

std::string user_secret_name(std::string_view user) {
  return std::string{name_prefix} + hex_sha256(user).substr(0, name_letters);
}

std::string new_user_token(std::string_view user) {
  std::array<unsigned char, random_bytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return {};
  return user_secret_name(user) + "." +
         base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string hash_of_user_token(std::string_view token) {
  return hex_sha256(token);
}

std::optional<user_token> read_user_token(const api::object& secret) {
  const auto& content = secret.as<Secret>();
  const auto& meta = secret.meta();
  user_token found{.user = actors::find_or_empty(content.data(), "user"),
                   .groups = lines_of(actors::find_or_empty(content.data(), "groups")),
                   .hash = actors::find_or_empty(content.data(), "token-sha256"),
                   .expires = std::nullopt};
  const auto good = [](const std::string& name) { return check_user_name(name).has_value(); };
  if (content.type() != user_token_type || meta.namespace_() != user_token_namespace ||
      meta.has_deletion_timestamp() || meta.name() != user_secret_name(found.user) ||
      !good(found.user) || !std::all_of(found.groups.begin(), found.groups.end(), good))
    return std::nullopt;
  if (const auto text = actors::find_or_empty(content.data(), "expiration"); !text.empty()) {
    found.expires = actors::parse_expiration(text);
    if (!found.expires) return std::nullopt;
  }
  return found;
}

std::unique_ptr<Secret> write_user_token(const user_token& token) {
  auto made = std::make_unique<Secret>();
  auto& meta = *made->mutable_metadata();
  meta.set_name(user_secret_name(token.user));
  meta.set_namespace_(std::string{user_token_namespace});
  (*meta.mutable_labels())[std::string{user_token_label}] = "true";
  made->set_type(std::string{user_token_type});
  auto& data = *made->mutable_data();
  data["user"] = token.user;
  data["token-sha256"] = token.hash;
  std::string groups;
  for (const auto& group : token.groups)
    groups += group + "\n";
  if (!groups.empty()) data["groups"] = groups;
  if (token.expires)
    data["expiration"] = api::format_time(
        std::chrono::floor<std::chrono::seconds>(*token.expires).time_since_epoch().count());
  return made;
}

user_tokens::user_tokens(const persistence::store& store, clock now)
    : store_{store}, now_{now ? std::move(now) : clock{&std::chrono::system_clock::now}} {}

user_ptr user_tokens::find(std::string_view token) const {
  const auto name = secret_of(token);
  if (name.empty()) return nullptr;
  const auto object = store_.read().find(
      api::kind_of<Secret>().key(std::string{user_token_namespace}, std::string{name}));
  const auto known = object ? read_user_token(*object) : std::nullopt;
  const auto hash = hash_of_user_token(token);
  const auto& expected = known && known->hash.size() == hash.size() ? known->hash : hash;
  const bool same = CRYPTO_memcmp(expected.data(), hash.data(), hash.size()) == 0;
  if (!known || known->hash.size() != hash.size() || !same || known->expired(now_()))
    return nullptr;
  return std::make_shared<const user_info>(
      user_info{.name = known->user, .uid = object->meta().uid(), .groups = known->groups});
}

}  // namespace troupe::server
