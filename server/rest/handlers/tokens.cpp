#include "server/rest/handlers/tokens.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/core/condition.hpp"
#include "actors/tokens/node_token.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "api/codec/json_text.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "api/values/uid.hpp"
#include "runtime/actor_system.hpp"
#include "server/access/authentication.hpp"
#include "server/rest/handlers/documents.hpp"
#include "server/rest/handlers/writing.hpp"
#include "server/tokens/account_tokens.hpp"

namespace troupe::server {
namespace {

using api::authentication::v1::TokenRequest;
using api::authentication::v1::TokenReview;

const api::kind_info& request_kind() {
  return api::kind_of<TokenRequest>();
}

// kubernetes: registry/core/serviceaccount/storage/token.go.
actors::token_spec order_of(const call& call, const TokenRequest& body) {
  const auto& spec = body.spec();
  const auto& bound = spec.bound_object_ref();
  return {.ns = std::string{call.route.ns},
          .account = std::string{call.route.name},
          .audiences = {spec.audiences().begin(), spec.audiences().end()},
          .expiration_seconds = spec.expiration_seconds(),
          .bound_kind = bound.kind(),
          .bound_api_version = bound.api_version(),
          .bound_name = bound.name(),
          .bound_uid = bound.uid()};
}

std::string new_token_id() {
  std::random_device source;
  std::mt19937_64 random{(std::uint64_t{source()} << 32) | source()};
  return api::generated_uid(random);
}

// Empty if the client is not a node.
std::string_view node_of_caller(const call& call) {
  const auto& user = call.request->user;
  return user ? actors::node_of(user->name, user->groups) : std::string_view{};
}

api::expected<void> grant(const call& call, const actors::token_issuer& issuer,
                          TokenRequest& body) {
  const auto now = actors::seconds_of(call.services.plane.system().time().wall_now());
  const auto state = call.services.read();
  const auto order = order_of(call, body);
  if (const auto node = node_of_caller(call); !node.empty())
    if (auto allowed = actors::may_request_token(state, node, order); !allowed) return allowed;
  const auto planned =
      actors::plan_token(state, order, issuer.api_audiences(), now, new_token_id());
  if (!planned) return api::fail(planned.error());
  auto token = issuer.sign(planned->claims);
  if (!token) return api::fail(api::internal(token.error()));
  auto& meta = *body.mutable_metadata();
  meta.set_name(std::string{call.route.name});
  meta.set_namespace_(std::string{call.route.ns});
  meta.mutable_creation_timestamp()->set_seconds(now);
  auto& spec = *body.mutable_spec();
  if (spec.audiences().empty())
    for (const auto& each : issuer.api_audiences())
      spec.add_audiences(each);
  body.mutable_status()->set_token(std::move(*token));
  body.mutable_status()->mutable_expiration_timestamp()->set_seconds(planned->shown_expiration);
  return {};
}

void answer_document(const call_ptr& call, std::string text, const char* type) {
  response out;
  out.content_type = type;
  // kubernetes: routes/openidmetadata.go.
  out.fields.push_back({"cache-control", "public, max-age=3600"});
  out.content.add(std::move(text));
  call->answer(std::move(out));
}

std::vector<std::string> common(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> both;
  for (const auto& each : a)
    if (std::find(b.begin(), b.end(), each) != b.end()) both.push_back(each);
  return both;
}

// In upstream's words; a token for other audiences is told from one that nobody made.
std::string refusal_of(const std::string& token, const std::vector<std::string>& asked,
                       const authenticator& by) {
  const std::string unknown = "invalid bearer token";
  if (asked.empty()) return unknown;
  const auto own = by.owner_of(token, {});
  if (!own.user) return unknown;
  const auto list = [](const std::vector<std::string>& audiences) {
    std::string out;
    for (const auto& audience : audiences)
      out += (out.empty() ? "" : " ") + api::quoted(audience);
    return "[" + out + "]";
  };
  return "[" + unknown + ", token audiences " + list(own.audiences) +
         " is invalid for the target audiences " + list(asked) + "]";
}

}  // namespace

void create_token(const call_ptr& call) {
  const auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto* issuer = call->services.plane.issuer();
  if (issuer == nullptr) return call->fail(path_not_found());
  const auto read = read_body(call, request_kind(), options->fields);
  if (!read) return call->fail(read.error());
  auto& body = static_cast<TokenRequest&>(**read);
  api::set_defaults(request_kind(), body);
  if (auto granted = grant(*call, *issuer, body); !granted) return call->fail(granted.error());
  call->answer(
      message_answer(call->form, 201, body, request_kind().api_version(), request_kind().kind()));
}

// kubernetes: registry/authentication/tokenreview/storage.go. A token without audiences is valid
// for the API server's.
api::expected<void> review_token(const call& call, TokenReview& review) {
  const auto& spec = review.spec();
  if (spec.token().empty())
    return api::fail(api::bad_request("token is required for TokenReview in authentication"));
  const auto& options = call.services.options;
  const auto* by = options.reviewer != nullptr ? options.reviewer->get() : nullptr;
  auto& status = *review.mutable_status();
  status.Clear();
  if (by == nullptr) {
    status.set_error("the server does not authenticate yet");
    return {};
  }
  const std::vector<std::string> asked{spec.audiences().begin(), spec.audiences().end()};
  auto owner = by->owner_of(spec.token(), asked);
  const auto* issuer = call.services.plane.issuer();
  if (!owner.user && issuer != nullptr) {
    auto both = common(asked, issuer->api_audiences());
    if (!both.empty()) owner = {by->owner_of(spec.token(), {}).user, std::move(both)};
  }
  if (!owner.user) {
    status.set_error(refusal_of(spec.token(), asked, *by));
    return {};
  }
  status.set_authenticated(true);
  auto& user = *status.mutable_user();
  user.set_username(owner.user->name);
  if (!owner.user->uid.empty()) user.set_uid(owner.user->uid);
  for (const auto& group : owner.user->groups)
    user.add_groups(group);
  for (const auto& [key, values] : owner.user->extra)
    for (const auto& value : values)
      (*user.mutable_extra())[key].add_items(value);
  for (const auto& audience : owner.audiences)
    status.add_audiences(audience);
  return {};
}

void get_issuer_configuration(const call_ptr& call) {
  const auto& accounts = call->services.options.accounts;
  if (!accounts) return call->fail(path_not_found());
  answer_document(call, accounts->configuration(), "application/json");
}

void get_issuer_keys(const call_ptr& call) {
  const auto& accounts = call->services.options.accounts;
  if (!accounts) return call->fail(path_not_found());
  answer_document(call, accounts->key_set(), "application/jwk-set+json");
}

}  // namespace troupe::server
