#include "actors/tokens/account_token.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/labels.hpp"
#include "actors/tokens/defaults.hpp"
#include "actors/write/admission/api_access.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::actors {

using api::authentication::v1::TokenRequest;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;

namespace {

named_uid named(const api::object& object) {
  return {object.meta().name(), object.meta().uid()};
}

api::expected<void> check_expiration(std::int64_t seconds) {
  const char* problem = seconds < token_defaults::least_lifetime_seconds
                            ? "may not specify a duration less than 10 minutes"
                        : seconds > token_defaults::longest_lifetime_seconds
                            ? "may not specify a duration larger than 2^32 seconds"
                            : nullptr;
  if (problem == nullptr) return {};
  return api::fail(
      api::invalid(api::kind_of<TokenRequest>(), {},
                   {{"FieldValueInvalid", fmt::format("Invalid value: {}: {}", seconds, problem),
                     "spec.expirationSeconds"}}));
}

template <class T>
api::expected<api::object_ptr> find(const persistence::snapshot& state, const std::string& ns,
                                    const std::string& name) {
  const auto& kind = api::kind_of<T>();
  auto found = state.find(kind.key(ns, name));
  if (!found) return api::fail(api::not_found(kind, name));
  return found;
}

api::error other_uid(const token_spec& request) {
  api::error out;
  out.code = 409;
  out.reason = "Conflict";
  out.kind = request.bound_kind;
  out.name = request.bound_name;
  out.message = fmt::format(
      "Operation cannot be fulfilled on {} \"{}\": the UID in the bound object reference ({}) does "
      "not match the UID in record. The object might have been deleted and then recreated",
      request.bound_kind, request.bound_name, request.bound_uid);
  return out;
}

// The pod's node, for readers of the token only: validation ignores it.
std::optional<named_uid> node_of_pod(const persistence::snapshot& state, const Pod& pod) {
  const auto& name = pod.spec().node_name();
  if (name.empty()) return std::nullopt;
  const auto node = state.find(api::kind_of<Node>().key({}, name));
  return node ? named(*node) : named_uid{name, {}};
}

api::expected<void> bind_to_pod(const persistence::snapshot& state, const token_spec& request,
                                token_claims& claims) {
  const auto pod = find<Pod>(state, request.ns, request.bound_name);
  if (!pod) return api::fail(pod.error());
  const auto& body = (*pod)->as<Pod>();
  if (body.spec().service_account_name() != request.account)
    return api::fail(api::bad_request(
        fmt::format("cannot bind token for serviceaccount \"{}\" to pod running with different "
                    "serviceaccount name.",
                    request.account)));
  claims.pod = named(**pod);
  claims.node = node_of_pod(state, body);
  return {};
}

template <class T>
api::expected<void> bind_to(const persistence::snapshot& state, const std::string& ns,
                            const token_spec& request, std::optional<named_uid>& bound) {
  const auto object = find<T>(state, ns, request.bound_name);
  if (!object) return api::fail(object.error());
  bound = named(**object);
  return {};
}

api::expected<void> bind_claims(const persistence::snapshot& state, const token_spec& request,
                                token_claims& claims) {
  if (request.bound_kind.empty() && request.bound_name.empty()) return {};
  const auto& version = request.bound_api_version;
  const bool core = version.find('/') == version.npos;
  api::expected<void> done;
  const std::optional<named_uid>* bound = nullptr;
  if (core && request.bound_kind == "Pod") {
    done = bind_to_pod(state, request, claims);
    bound = &claims.pod;
  } else if (core && request.bound_kind == "Secret") {
    done = bind_to<Secret>(state, request.ns, request, claims.secret);
    bound = &claims.secret;
  } else if (core && request.bound_kind == "Node") {
    done = bind_to<Node>(state, {}, request, claims.node);
    bound = &claims.node;
  } else {
    return api::fail(
        api::bad_request(fmt::format("cannot bind token to object of type {}{}, Kind={}",
                                     core ? "/" : "", version, request.bound_kind)));
  }
  if (!done) return done;
  if (!request.bound_uid.empty() && request.bound_uid != (*bound)->uid)
    return api::fail(other_uid(request));
  return {};
}

bool among(std::span<const std::string> all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

using valid = tl::expected<void, std::string>;

// An object in deletion counts for a little longer, because clocks differ.
valid check_present(const persistence::snapshot& state, const api::kind_info& kind,
                    const std::string& ns, const named_uid& wanted, std::int64_t now_seconds) {
  const auto found = state.find(kind.key(ns, wanted.name));
  if (!found)
    return tl::make_unexpected(fmt::format("{} {} does not exist", kind.kind(), wanted.name));
  const auto& meta = found->meta();
  if (meta.uid() != wanted.uid)
    return tl::make_unexpected(fmt::format("{} {} has another uid", kind.kind(), wanted.name));
  if (meta.has_deletion_timestamp() &&
      meta.deletion_timestamp().seconds() < now_seconds - token_defaults::leeway_seconds)
    return tl::make_unexpected(fmt::format("{} {} has been deleted", kind.kind(), wanted.name));
  return {};
}

valid check_times(const token_claims& claims, std::int64_t now_seconds) {
  const auto leeway = token_defaults::leeway_seconds;
  if (claims.expires != 0 && now_seconds > claims.expires + leeway)
    return tl::make_unexpected(std::string{"the token has expired"});
  if (now_seconds < claims.issued - leeway)
    return tl::make_unexpected(std::string{"the token is not valid yet"});
  return {};
}

valid check_secret(const persistence::snapshot& state, const token_claims& claims,
                   std::string_view token) {
  const auto found = state.find(api::kind_of<Secret>().key(claims.ns, claims.secret->name));
  if (!found) return tl::make_unexpected(std::string{"its secret does not exist"});
  const auto& data = found->as<Secret>().data();
  const auto held = data.find("token");
  if (found->meta().has_deletion_timestamp() || held == data.end() || held->second != token)
    return tl::make_unexpected(std::string{"its secret no longer contains it"});
  // kubernetes: pkg/serviceaccount/legacy.go.
  if (!label_of(*found, std::string{invalid_since_label}).empty())
    return tl::make_unexpected(fmt::format("its secret has the label {}", invalid_since_label));
  return {};
}

}  // namespace

std::string account_user(std::string_view ns, std::string_view account) {
  return fmt::format("{}{}:{}", account_user_prefix, ns, account);
}

api::expected<planned_token> plan_token(const persistence::snapshot& state,
                                        const token_spec& request,
                                        std::span<const std::string> api_audiences,
                                        std::int64_t now_seconds, std::string id) {
  const auto account = find<ServiceAccount>(state, request.ns, request.account);
  if (!account) return api::fail(account.error());
  if (auto fits = check_expiration(request.expiration_seconds); !fits)
    return api::fail(std::move(fits.error()));
  planned_token out;
  auto& claims = out.claims;
  claims.ns = request.ns;
  claims.account = named(**account);
  claims.audiences = request.audiences;
  if (claims.audiences.empty()) claims.audiences.assign(api_audiences.begin(), api_audiences.end());
  if (auto bound = bind_claims(state, request, claims); !bound)
    return api::fail(std::move(bound.error()));
  claims.id = std::move(id);
  claims.issued = now_seconds;
  claims.expires = out.shown_expiration = now_seconds + request.expiration_seconds;
  const bool for_api = std::all_of(claims.audiences.begin(), claims.audiences.end(),
                                   [&](const auto& each) { return among(api_audiences, each); });
  if (claims.pod && for_api && request.expiration_seconds == admission::mounted_token_seconds) {
    claims.warn_after = claims.expires;
    claims.expires = now_seconds + token_defaults::extended_lifetime_seconds;
  }
  return out;
}

valid check_claims(const persistence::snapshot& state, const token_claims& claims,
                   std::string_view token, std::int64_t now_seconds) {
  if (auto in_time = check_times(claims, now_seconds); !in_time) return in_time;
  if (auto there = check_present(state, api::kind_of<ServiceAccount>(), claims.ns, claims.account,
                                 now_seconds);
      !there)
    return there;
  if (claims.legacy) return check_secret(state, claims, token);
  if (claims.secret)
    if (auto there =
            check_present(state, api::kind_of<Secret>(), claims.ns, *claims.secret, now_seconds);
        !there)
      return there;
  if (claims.pod)
    return check_present(state, api::kind_of<Pod>(), claims.ns, *claims.pod, now_seconds);
  if (claims.node) return check_present(state, api::kind_of<Node>(), {}, *claims.node, now_seconds);
  return {};
}

std::optional<persistence::transaction> plan_last_use(const persistence::snapshot& state,
                                                      const token_claims& claims,
                                                      std::int64_t now_seconds) {
  constexpr std::int64_t day_seconds = 24 * 3'600;
  const auto day = [](std::int64_t at) {
    return api::format_time(at).substr(0, std::string_view{"2006-01-02"}.size());
  };
  auto key = api::kind_of<Secret>().key(claims.ns, claims.secret->name);
  const auto found = state.find(key);
  if (!found) return std::nullopt;
  const auto& last_used = label_of(*found, std::string{last_used_label});
  const auto today = day(now_seconds);
  if (last_used == today || last_used == day(now_seconds + day_seconds)) return std::nullopt;
  auto changed = found->copy_as<Secret>();
  (*changed->mutable_metadata()->mutable_labels())[std::string{last_used_label}] = today;
  persistence::transaction out;
  out.cause.author = "legacy-token-tracking";
  out.preconditions.push_back({key, found->revision()});
  out.mutations.push_back({std::move(key), &found->kind(), std::move(changed)});
  return out;
}

}  // namespace troupe::actors
