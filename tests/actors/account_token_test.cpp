// Tokens of service accounts: which are issued, how long they are valid, and when they end early.
#include "actors/tokens/account_token.hpp"

#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::plan_token;
using actors::token_claims;
using actors::token_spec;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;

namespace {

constexpr std::int64_t now = 1'800'000'000;
const std::vector<std::string> api_audiences{"api", "other-api"};

struct shop {
  cluster c{1, without_controllers()};

  shop() {
    ServiceAccount account;
    account.mutable_metadata()->set_name("robot");
    c.create(account);
    add_node(c, "n0");
    auto pod = web_pod();
    pod.mutable_spec()->set_service_account_name("robot");
    pod.mutable_spec()->set_node_name("n0");
    c.create(pod);
    Secret secret;
    secret.mutable_metadata()->set_name("s");
    c.create(secret);
  }

  static token_spec request(std::int64_t seconds = 3'600) {
    return {.ns = "default", .account = "robot", .audiences = {}, .expiration_seconds = seconds};
  }
  static token_spec bound_to(const std::string& kind, const std::string& name,
                             const std::string& uid = {}) {
    auto out = request();
    out.bound_kind = kind;
    out.bound_api_version = "v1";
    out.bound_name = name;
    out.bound_uid = uid;
    return out;
  }

  api::expected<actors::planned_token> plan(const token_spec& request) const {
    return plan_token(c.store().read(), request, api_audiences, now, "id");
  }
  bool holds(const token_claims& claims, std::int64_t at = now) const {
    return actors::check_claims(c.store().read(), claims, {}, at).has_value();
  }
};

}  // namespace

TEST_CASE("a token names its account, its audience and its lifetime", "[tokens]") {
  const shop world;
  const auto made = world.plan(shop::request());
  REQUIRE(made);
  const auto& claims = made->claims;
  CHECK(claims.account.name == "robot");
  CHECK(claims.account.uid == world.c.find<ServiceAccount>("default", "robot")->meta().uid());
  CHECK(claims.audiences == api_audiences);
  CHECK(claims.issued == now);
  CHECK(claims.expires == now + 3'600);
  CHECK(made->shown_expiration == now + 3'600);
  CHECK_FALSE(claims.pod);
  auto request = shop::request();
  request.audiences = {"vault"};
  CHECK(world.plan(request)->claims.audiences == std::vector<std::string>{"vault"});
}

TEST_CASE("a token lives between ten minutes and 2^32 seconds", "[tokens]") {
  const shop world;
  const auto refusal = [&](std::int64_t seconds) {
    const auto made = world.plan(shop::request(seconds));
    return made ? std::string{} : made.error().causes.front().message;
  };
  CHECK(refusal(600).empty());
  CHECK(refusal(599) == "Invalid value: 599: may not specify a duration less than 10 minutes");
  CHECK(refusal(std::int64_t{1} << 32).empty());
  CHECK(refusal((std::int64_t{1} << 32) + 1) ==
        "Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds");
  CHECK(world.plan(shop::request(-1)).error().code == 422);
}

TEST_CASE("a token is bound to a pod of its account, a secret or a node", "[tokens]") {
  const shop world;
  const auto pod = world.plan(shop::bound_to("Pod", "web"));
  REQUIRE(pod);
  CHECK(pod->claims.pod->name == "web");
  CHECK(pod->claims.node->name == "n0");
  CHECK_FALSE(pod->claims.node->uid.empty());
  CHECK(world.plan(shop::bound_to("Secret", "s"))->claims.secret->name == "s");
  CHECK(world.plan(shop::bound_to("Node", "n0"))->claims.node->name == "n0");

  CHECK(world.plan(shop::bound_to("Pod", "none")).error().message == "pods \"none\" not found");
  CHECK(world.plan(shop::bound_to("Pod", "web", "other")).error().code == 409);
  auto request = shop::bound_to("Pod", "web");
  request.account = "none";
  CHECK(world.plan(request).error().message == "serviceaccounts \"none\" not found");
  request = shop::bound_to("Deployment", "d");
  request.bound_api_version = "apps/v1";
  CHECK(world.plan(request).error().message ==
        "cannot bind token to object of type apps/v1, Kind=Deployment");
}

TEST_CASE("a token is not bound to a pod of another account", "[tokens]") {
  shop world;
  ServiceAccount other;
  other.mutable_metadata()->set_name("other");
  world.c.create(other);
  auto request = shop::bound_to("Pod", "web");
  request.account = "other";
  const auto made = world.plan(request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 400);
  CHECK(made.error().message ==
        "cannot bind token for serviceaccount \"other\" to pod running with different "
        "serviceaccount name.");
}

TEST_CASE("the mounted token of a pod is valid for a year, and reports an hour", "[tokens]") {
  const shop world;
  auto request = shop::bound_to("Pod", "web");
  request.expiration_seconds = 3'607;
  auto made = world.plan(request);
  CHECK(made->claims.expires == now + 365 * 24 * 3'600);
  CHECK(made->claims.warn_after == now + 3'607);
  CHECK(made->shown_expiration == now + 3'607);
  request.audiences = {"vault"};
  CHECK(world.plan(request)->claims.expires == now + 3'607);
  request = shop::request(3'607);
  CHECK(world.plan(request)->claims.expires == now + 3'607);
}

TEST_CASE(
    "a token is invalid after its expiry and after the removal of its account or bound object",
    "[tokens]") {
  shop world;
  const auto plain = world.plan(shop::request())->claims;
  CHECK(world.holds(plain));
  CHECK(world.holds(plain, plain.expires + 60));
  CHECK_FALSE(world.holds(plain, plain.expires + 61));
  CHECK(world.holds(plain, plain.issued - 60));
  CHECK_FALSE(world.holds(plain, plain.issued - 61));

  const auto of_secret = world.plan(shop::bound_to("Secret", "s"))->claims;
  const auto of_node = world.plan(shop::bound_to("Node", "n0"))->claims;
  const auto of_pod = world.plan(shop::bound_to("Pod", "web"))->claims;
  world.c.remove<Secret>("default", "s");
  CHECK_FALSE(world.holds(of_secret));
  Secret again;
  again.mutable_metadata()->set_name("s");
  world.c.create(again);
  CHECK_FALSE(world.holds(of_secret));  // another object with that name
  world.c.remove<api::core::v1::Node>("", "n0");
  CHECK_FALSE(world.holds(of_node));
  CHECK(world.holds(of_pod));  // the pod's node does not matter
  world.c.remove<Pod>("default", "web", 0);
  CHECK_FALSE(world.holds(of_pod));
  world.c.remove<ServiceAccount>("default", "robot");
  CHECK_FALSE(world.holds(plain));
}

TEST_CASE("the token of a terminating pod is valid until a minute after its grace period",
          "[tokens]") {
  shop world;
  const auto of_pod = world.plan(shop::bound_to("Pod", "web"))->claims;
  world.c.change<Pod>("default", "web", [](Pod& pod) {
    pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(now);
  });
  CHECK(world.holds(of_pod, now + 60));
  CHECK_FALSE(world.holds(of_pod, now + 61));
}

TEST_CASE(
    "the token of a secret is valid while the secret contains it and is not marked as invalid",
    "[tokens]") {
  shop world;
  token_claims legacy;
  legacy.ns = "default";
  legacy.account = {"robot", world.c.find<ServiceAccount>("default", "robot")->meta().uid()};
  legacy.secret = actors::named_uid{"s", {}};
  legacy.legacy = true;
  const auto holds = [&](const char* token) {
    return actors::check_claims(world.c.store().read(), legacy, token, now).has_value();
  };
  CHECK_FALSE(holds("t"));
  world.c.change<Secret>("default", "s", [](Secret& s) { (*s.mutable_data())["token"] = "t"; });
  CHECK(holds("t"));
  CHECK_FALSE(holds("u"));
  const auto invalid_since = [](const char* day) {
    return [day](Secret& s) {
      (*s.mutable_metadata()->mutable_labels())["kubernetes.io/legacy-token-invalid-since"] = day;
    };
  };
  world.c.change<Secret>("default", "s", invalid_since("2026-01-01"));
  CHECK_FALSE(holds("t"));
  world.c.change<Secret>("default", "s", invalid_since(""));
  CHECK(holds("t"));
}

}  // namespace troupe::test
