#include "server/tokens/account_tokens.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/tokens/defaults.hpp"
#include "server/tokens/web_token.hpp"

namespace troupe::server {

namespace {

// Cached tokens: at most twice this number, about 1.5 KB each.
constexpr std::size_t known_half = 2'048;

// For so long a refused token may be one whose account another control plane has just made.
constexpr std::int64_t new_token_seconds = 10;

bool among(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::string> common(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> both;
  std::copy_if(a.begin(), a.end(), std::back_inserter(both),
               [&](const auto& each) { return among(b, each); });
  return both;
}

// kubernetes: pkg/serviceaccount/util.go, ServiceAccountInfo.UserInfo.
user_ptr user_of(const actors::token_claims& claims) {
  user_info user{
      actors::account_user(claims.ns, claims.account.name),
      claims.account.uid,
      {std::string{actors::accounts_group}, std::string{actors::accounts_group} + ":" + claims.ns,
       std::string{authenticated_group}}};
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) user.extra[std::string{"authentication.kubernetes.io/"} + key] = {value};
  };
  if (claims.pod) {
    put("pod-name", claims.pod->name);
    put("pod-uid", claims.pod->uid);
  }
  if (claims.node) {
    put("node-name", claims.node->name);
    put("node-uid", claims.node->uid);
  }
  if (!claims.id.empty()) put("credential-id", "JTI=" + claims.id);
  return std::make_shared<const user_info>(std::move(user));
}

tl::expected<void, std::string> check(const account_token_options& options) {
  if (options.issuers.empty())
    return tl::make_unexpected(std::string{"service_account.issuer: name at least one issuer"});
  for (const auto& each : options.issuers)
    if (!each.starts_with("https://"))
      return tl::make_unexpected("service_account.issuer: \"" + each +
                                 "\" is no URL that begins with https://");
  return {};
}

}  // namespace

tl::expected<std::shared_ptr<account_tokens>, std::string> account_tokens::make(
    const persistence::store& store, account_keys keys, account_token_options options, clock now) {
  if (auto fits = check(options); !fits) return tl::make_unexpected(fits.error());
  if (options.api_audiences.empty()) options.api_audiences = {options.issuers.front()};
  if (!now) now = &std::chrono::system_clock::now;
  return std::shared_ptr<account_tokens>{
      new account_tokens{store, std::move(keys), std::move(options), std::move(now)}};
}

account_tokens::account_tokens(const persistence::store& store, account_keys keys,
                               account_token_options options, clock now)
    : store_{store},
      keys_{std::move(keys)},
      options_{std::move(options)},
      now_{std::move(now)},
      known_{known_half} {}

tl::expected<std::string, std::string> account_tokens::sign(
    const actors::token_claims& claims) const {
  return sign_token(claims, options_.issuers.front(), keys_.signing());
}

verified_ptr account_tokens::verify(std::string_view token) const {
  const auto parts = split_token(token);
  const auto* key = parts ? keys_.find(parts->key_id) : nullptr;
  if (key == nullptr || !key->verify(parts->signed_text, parts->signature)) return nullptr;
  auto read = parse_claims(parts->claims);
  if (!read) return nullptr;
  if (read->issuer != legacy_issuer && !among(options_.issuers, read->issuer)) return nullptr;
  // Valid for the API server only.
  if (read->claims.legacy) read->claims.audiences = options_.api_audiences;
  auto user = user_of(read->claims);
  return std::make_shared<const verified_token>(std::move(read->claims), std::move(user));
}

std::int64_t account_tokens::now_seconds() const {
  return std::chrono::floor<std::chrono::seconds>(now_()).time_since_epoch().count();
}

verified_ptr account_tokens::good(std::string_view token) const {
  // Other bearer tokens have another form: a JSON object begins with {".
  if (!token.starts_with("ey") || token.size() > token_limit_bytes) return nullptr;
  const auto hash = es256::sha256(token);
  auto known = known_.find(hash);
  if (!known) {
    known = verify(token);
    if (!known) return nullptr;
    known_.put(hash, known);
  }
  const auto now = now_seconds();
  const auto state = store_.read();
  if (const auto holds = actors::check_claims(state, known->claims, token, now); !holds) {
    spdlog::debug("server: a token of {} is refused: {}", known->user->name, holds.error());
    return nullptr;
  }
  if (known->claims.legacy && commit_) record_use(state, *known, now);
  return known;
}

// A failed write is tried again at a later use.
void account_tokens::record_use(const persistence::snapshot& state, const verified_token& token,
                                std::int64_t now_seconds) const {
  auto checked_at = token.use_checked_at.load();
  if (now_seconds - checked_at < actors::token_defaults::use_check_seconds ||
      !token.use_checked_at.compare_exchange_strong(checked_at, now_seconds))
    return;
  if (auto write = actors::plan_last_use(state, token.claims, now_seconds))
    commit_(std::move(*write));
}

user_ptr account_tokens::find(std::string_view token) const {
  const auto known = good(token);
  if (!known || common(known->claims.audiences, options_.api_audiences).empty()) return nullptr;
  return known->user;
}

// find() has kept the token if its signature is good.
bool account_tokens::is_new(std::string_view token) const {
  if (!at_newest_ || token.size() > token_limit_bytes) return false;
  const auto known = known_.find(es256::sha256(token));
  return known != nullptr && now_seconds() - known->claims.issued < new_token_seconds;
}

token_owner account_tokens::find_for(std::string_view token,
                                     const std::vector<std::string>& audiences) const {
  const auto known = good(token);
  if (!known) return {};
  auto both =
      common(audiences.empty() ? options_.api_audiences : audiences, known->claims.audiences);
  if (both.empty()) return {};
  return {known->user, std::move(both)};
}

void account_tokens::address(std::string address) {
  const std::lock_guard lock{mutex_};
  address_ = std::move(address);
}

// Values from settings and our own code: no character needs JSON escaping.
std::string account_tokens::configuration() const {
  const std::lock_guard lock{mutex_};
  return R"({"issuer":")" + options_.issuers.front() + R"(","jwks_uri":"https://)" + address_ +
         R"(/openid/v1/jwks","response_types_supported":["id_token"],)"
         R"("subject_types_supported":["public"],)"
         R"("id_token_signing_alg_values_supported":["ES256"]})";
}

std::string account_tokens::key_set() const {
  std::string keys;
  for (const auto& each : keys_.all()) {
    if (!keys.empty()) keys += ',';
    keys += R"({"use":"sig","kty":"EC","kid":")" + each.id() +
            R"(","crv":"P-256","alg":"ES256","x":")" + each.x() + R"(","y":")" + each.y() + R"("})";
  }
  return R"({"keys":[)" + keys + "]}";
}

}  // namespace troupe::server
