// Service accounts over HTTPS: their tokens are issued, presented, reviewed and refused.
#include "server/tokens/account_tokens.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/control_plane/control_plane.hpp"
#include "actors/tokens/account_token.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/timestamp.hpp"
#include "runtime/actor_system.hpp"
#include "server/credentials/base64url.hpp"
#include "server/credentials/private_file.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/frontend/api_frontend.hpp"
#include "server/rest/handlers/api_server.hpp"
#include "server/tokens/web_token.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::server::testing {

namespace {

constexpr const char* accounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* self = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

// An API with its frontend, and a clock of its own for tokens.
class token_test {
 public:
  token_test() {
    store_ = persistence::store::open({}).value();
    system_ = std::make_unique<runtime::actor_system>();
    tokens_ = account_tokens::make(
                  *store_, account_keys::open(folder_.path() / "pki").value(),
                  {.issuers = {"https://new", "https://old"}, .api_audiences = {"api"}},
                  [this] { return now.value_or(std::chrono::system_clock::now()) + later; })
                  .value();
    actors::control_plane_options plane;
    plane.controllers = false;
    plane.issuer = tokens_;
    plane_ = std::make_unique<actors::control_plane>(*system_, *store_, std::move(plane));
    tokens_->record_uses([this](persistence::transaction write) {
      plane_->commit(std::move(write), 0, [](const auto&) {});
    });
    tokens_->wait_for_others([this](std::function<void()> done) {
      ++waits_;
      if (auto late = take_late()) store_->submit(std::move(*late), [](const auto&) {});
      store_->barrier([done = std::move(done)](const auto&) { done(); });
    });
    rest_options rest;
    rest.accounts = tokens_;
    rest.reviewer = &reviewer_;
    api_ = std::make_unique<api_server>(*plane_, std::move(rest));
    REQUIRE(api_->create_system_objects());
    frontend_options from;
    from.listen = {"127.0.0.1", 0};
    from.data_dir = folder_.path();
    frontend_parts parts;
    parts.api = api_.get();
    parts.health = &health_;
    parts.tokens = {tokens_};
    parts.reviewer = &reviewer_;
    front_ = api_frontend::start(std::move(from), std::move(parts)).value();
    tokens_->address(to_string(front_->address()));
    admin_ = read_private_file(folder_.path() / "pki" / "tokens.csv").value().value();
    admin_.resize(admin_.find(','));
    REQUIRE(post(accounts, R"({"metadata":{"name":"robot"}})").status == 201);
  }
  ~token_test() { front_->stop(); }

  rest_answer ask(const std::string& method, const std::string& path, const std::string& body,
                  const std::string& token) const {
    test::wire_options to;
    to.port = front_->address().port;
    test::http_client::fields headers{{"Authorization", "Bearer " + token}};
    if (!body.empty()) headers["Content-Type"] = "application/json";
    return test::http_client{to}.request(method, path, body, headers);
  }
  rest_answer post(const std::string& path, const std::string& body) const {
    return ask("POST", path, body, admin_);
  }
  rest_answer get(const std::string& path) const { return ask("GET", path, {}, admin_); }
  rest_answer remove(const std::string& path) const { return ask("DELETE", path, {}, admin_); }

  // POST serviceaccounts/robot/token.
  rest_answer request(const std::string& spec = "{}") const {
    return post(std::string{accounts} + "/robot/token", R"({"spec":)" + spec + "}");
  }
  std::string token(const std::string& spec = "{}") const {
    const auto answer = request(spec);
    INFO(answer.text());
    REQUIRE(answer.status == 201);
    return answer.at("status.token");
  }
  // The user of the token according to the API; or 401.
  rest_answer whoami(const std::string& token) const { return ask("POST", self, "{}", token); }
  // The status of a request whose token is in the subprotocols of a WebSocket.
  int status_by_subprotocol(const std::string& token) const {
    test::wire_options to;
    to.port = front_->address().port;
    const auto protocol = "base64url.bearer.authorization.k8s.io." + base64url(token);
    return test::http_client{to}
        .get("/api/v1", {{"Connection", "Upgrade"},
                         {"Upgrade", "websocket"},
                         {"Sec-WebSocket-Protocol", "v4.channel.k8s.io, " + protocol}})
        .status;
  }
  rest_answer review(const std::string& token, const std::string& audiences = "[]") const {
    return post(reviews, R"({"spec":{"token":")" + token + R"(","audiences":)" + audiences + "}}");
  }
  void add_pod(const std::string& name) const {
    REQUIRE(post("/api/v1/namespaces/default/pods",
                 pod_json(name, "{}", R"("serviceAccountName":"robot",)"))
                .status == 201);
  }
  // An account that the store shows only after a wait for other control planes.
  void make_elsewhere(api::core::v1::ServiceAccount account) {
    const auto& kind = api::kind_of<api::core::v1::ServiceAccount>();
    auto key = kind.key(account.metadata().namespace_(), account.metadata().name());
    persistence::transaction written;
    written.preconditions.push_back({key, 0});
    written.mutations.push_back(
        {std::move(key), &kind,
         std::make_unique<api::core::v1::ServiceAccount>(std::move(account))});
    const std::lock_guard lock{mutex_};
    late_ = std::move(written);
  }
  // How often a refusal waited for other control planes.
  int waits() const { return waits_; }
  const account_tokens& tokens() const { return *tokens_; }
  const std::string& admin() const { return admin_; }

  std::optional<std::chrono::system_clock::time_point> now;  // where the clock stands, if it does
  std::chrono::seconds later{0};

 private:
  std::optional<persistence::transaction> take_late() const {
    const std::lock_guard lock{mutex_};
    return std::exchange(late_, std::nullopt);
  }

  // Changed by the server's threads, also in a constant fixture.
  mutable std::atomic<int> waits_{0};
  mutable std::mutex mutex_;
  mutable std::optional<persistence::transaction> late_;
  test::scratch_folder folder_;
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::actor_system> system_;
  std::shared_ptr<account_tokens> tokens_;
  token_reviewer reviewer_;
  std::unique_ptr<actors::control_plane> plane_;
  std::unique_ptr<api_server> api_;
  health_checks health_;
  std::unique_ptr<api_frontend> front_;
  std::string admin_;
};

// Of a token that was just signed, for the account that far_account() returns.
actors::token_claims far_claims() {
  actors::token_claims claims;
  claims.ns = "default";
  claims.account = {"far", "uid-1"};
  claims.audiences = {"api"};
  claims.id = "id-1";
  claims.issued = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  claims.expires = claims.issued + 600;
  return claims;
}

api::core::v1::ServiceAccount far_account() {
  api::core::v1::ServiceAccount account;
  account.mutable_metadata()->set_name("far");
  account.mutable_metadata()->set_namespace_("default");
  account.mutable_metadata()->set_uid("uid-1");
  return account;
}

}  // namespace

TEST_CASE("a token that was asked for is its account's", "[tokens]") {
  const token_test server;
  const auto answer = server.request(R"({"expirationSeconds":600})");
  REQUIRE(answer.status == 201);
  CHECK(answer.at("kind") == "TokenRequest");
  CHECK(answer.at("metadata.name") == "robot");
  CHECK(answer.at("spec.audiences") == R"(["api"])");
  CHECK(answer.has("status.expirationTimestamp"));
  const auto me = server.whoami(answer.at("status.token"));
  CHECK(me.status == 201);
  CHECK(me.at("status.userInfo.username") == "system:serviceaccount:default:robot");
  CHECK(me.at("status.userInfo.groups") ==
        R"(["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"])");
  CHECK(me.at("status.userInfo.uid") ==
        server.get(std::string{accounts} + "/robot").at("metadata.uid"));
  CHECK(me.text().find("authentication.kubernetes.io/credential-id\":[\"JTI=") !=
        std::string::npos);
}

TEST_CASE("an account may read only the paths of every authenticated user", "[tokens]") {
  const token_test server;
  const auto token = server.token();
  CHECK(server.ask("GET", "/api/v1", {}, token).status == 200);
  CHECK(server.ask("GET", "/openid/v1/jwks", {}, token).status == 200);
  CHECK(server.ask("GET", "/api/v1/namespaces/default/secrets", {}, token).status == 403);
  CHECK(server.ask("POST", reviews, R"({"spec":{"token":"x"}})", token).status == 403);
  CHECK(server.ask("POST", std::string{accounts} + "/robot/token", "{}", token).status == 403);
}

TEST_CASE("requests for tokens are refused as upstream refuses them", "[tokens]") {
  const token_test server;
  const auto refusal = server.request(R"({"expirationSeconds":10})");
  CHECK(refusal.status == 422);
  CHECK(
      refusal.at("message") ==
      "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: "
      "10: may not specify a duration less than 10 minutes");
  CHECK(server.post(std::string{accounts} + "/none/token", "{}").status == 404);
  CHECK(server
            .post(std::string{accounts} + "/robot/token",
                  R"({"metadata":{"name":"other"},"spec":{}})")
            .at("message")
            .find("does not match the name on the URL (robot)") != std::string::npos);
  const auto list = server.get("/api/v1");
  CHECK(list.text().find(R"("name":"serviceaccounts/token","singularName":"","namespaced":true,)"
                         R"("group":"authentication.k8s.io","version":"v1","kind":"TokenRequest",)"
                         R"("verbs":["create"])") != std::string::npos);
}

TEST_CASE("a new token of an account that another control plane has just made is accepted",
          "[tokens]") {
  token_test server;
  auto claims = far_claims();
  const auto token = server.tokens().sign(claims).value();
  CHECK(server.whoami(token).status == 401);
  CHECK(server.waits() == 1);
  server.make_elsewhere(far_account());
  CHECK(server.whoami(token).at("status.userInfo.username") == "system:serviceaccount:default:far");
  CHECK(server.waits() == 2);
  CHECK(server.whoami(token).status == 201);
  CHECK(server.waits() == 2);

  claims.account.uid = "uid-2";
  claims.issued -= 60;
  CHECK(server.whoami(server.tokens().sign(claims).value()).status == 401);
  CHECK(server.whoami("ey.ey.ey").status == 401);
  CHECK(server.waits() == 2);  // neither is new
}

TEST_CASE("a new token in a subprotocol is accepted when other control planes made its account",
          "[tokens]") {
  token_test server;
  const auto token = server.tokens().sign(far_claims()).value();
  CHECK(server.status_by_subprotocol(token) == 401);
  CHECK(server.waits() == 1);
  server.make_elsewhere(far_account());
  CHECK(server.status_by_subprotocol(token) == 200);
  CHECK(server.waits() == 2);
}

TEST_CASE("the use of a legacy token is noted at its secret, once a day", "[tokens]") {
  token_test server;
  const std::string secret = "/api/v1/namespaces/default/secrets/old";
  actors::token_claims claims;
  claims.ns = "default";
  claims.account = {"robot", server.get(std::string{accounts} + "/robot").at("metadata.uid")};
  claims.secret = actors::named_uid{"old", {}};
  claims.legacy = true;
  const auto token = server.tokens().sign(claims).value();
  REQUIRE(server
              .post("/api/v1/namespaces/default/secrets",
                    R"({"metadata":{"name":"old"},"stringData":{"token":")" + token + R"("}})")
              .status == 201);
  const auto last_use = [&] {
    const auto text = server.get(secret).text();
    const std::string label = R"("kubernetes.io/legacy-token-last-used":")";
    const auto at = text.find(label);
    return at == text.npos ? std::string{} : text.substr(at + label.size(), 10);
  };
  const auto today = [&] {
    return api::format_time(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() +
                                                                 server.later))
        .substr(0, 10);
  };
  // Far from midnight.
  const auto now = std::chrono::system_clock::now();
  const auto midnight = std::chrono::floor<std::chrono::days>(now);
  server.later = std::chrono::ceil<std::chrono::seconds>(midnight + std::chrono::hours{24} - now);
  CHECK(server.whoami("ey.ey.ey").status == 401);
  CHECK(last_use().empty());
  REQUIRE(server.whoami(token).status == 201);
  CHECK(rest_test::eventually([&] { return last_use() == today(); }));
  const auto revision = server.get(secret).at("metadata.resourceVersion");
  server.later += std::chrono::hours{1};
  REQUIRE(server.whoami(token).status == 201);
  // Committed after everything that was sent before.
  REQUIRE(server.post(accounts, R"({"metadata":{"name":"other"}})").status == 201);
  CHECK(server.get(secret).at("metadata.resourceVersion") == revision);
  server.later += std::chrono::hours{24};
  REQUIRE(server.whoami(token).status == 201);
  CHECK(rest_test::eventually([&] { return last_use() == today(); }));
}

TEST_CASE("a token ends with its time", "[tokens]") {
  token_test server;
  server.now = std::chrono::system_clock::now();
  const auto token = server.token(R"({"expirationSeconds":600})");
  CHECK(server.whoami(token).status == 201);
  server.later = std::chrono::seconds{600 + 59};
  CHECK(server.whoami(token).status == 201);
  server.later = std::chrono::seconds{600 + 62};
  CHECK(server.whoami(token).status == 401);
}

TEST_CASE("a token that was good ends with its pod, and with its account", "[tokens]") {
  const token_test server;
  server.add_pod("web");
  const auto of_pod =
      server.token(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"web"}})");
  const auto plain = server.token();
  const auto me = server.whoami(of_pod);
  CHECK(me.status == 201);
  CHECK(me.text().find(R"("authentication.kubernetes.io/pod-name":["web"])") != std::string::npos);
  REQUIRE(server
              .ask("DELETE", "/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0", {},
                   server.admin())
              .status == 200);
  CHECK(server.whoami(of_pod).status == 401);
  CHECK(server.whoami(plain).status == 201);
  REQUIRE(server.remove(std::string{accounts} + "/robot").status == 200);
  CHECK(server.whoami(plain).status == 401);
  REQUIRE(server.post(accounts, R"({"metadata":{"name":"robot"}})").status == 201);
  CHECK(server.whoami(plain).status == 401);  // another account with that name
}

TEST_CASE("tokens of others, and tokens for others, are refused", "[tokens]") {
  const token_test server;
  const auto good = server.token();
  CHECK(server.whoami(server.token(R"({"audiences":["vault"]})")).status == 401);
  auto changed = good;
  changed[changed.size() - 10] ^= 1;
  CHECK(server.whoami(changed).status == 401);
  CHECK(server.whoami("ey.ey.ey").status == 401);
  // Signed by another cluster with the same issuer.
  const auto key = es256::key::read(x509::make_key().value()).value();
  const auto parts = split_token(good);
  const auto claims = parse_claims(parts->claims);
  CHECK(server.whoami(sign_token(claims->claims, "https://new", key).value()).status == 401);
  CHECK(server.whoami(good).status == 201);
}

TEST_CASE("a review names the account of a token", "[tokens]") {
  const token_test server;
  const auto token = server.token();
  const auto answer = server.review(token);
  CHECK(answer.status == 201);
  CHECK(answer.at("status.authenticated") == "true");
  CHECK(answer.at("status.user.username") == "system:serviceaccount:default:robot");
  CHECK(answer.at("status.audiences") == R"(["api"])");
  CHECK(server.review(token, R"(["vault"])").has("status.authenticated") == false);
  const auto for_vault = server.token(R"({"audiences":["vault"]})");
  CHECK(server.review(for_vault).has("status.authenticated") == false);
  CHECK(server.review(for_vault, R"(["x","vault"])").at("status.audiences") == R"(["vault"])");
  CHECK(server.review(server.admin()).at("status.user.username") == "admin");
  CHECK(server.review(server.admin(), R"(["api","x"])").at("status.audiences") == R"(["api"])");
  CHECK(server.review("nonsense").has("status.authenticated") == false);
  CHECK(server.review("nonsense").at("status.error") == "invalid bearer token");
  CHECK(server.review(token, R"(["vault","x"])").at("status.error") ==
        R"([invalid bearer token, token audiences ["api"] is invalid for the target audiences )"
        R"(["vault" "x"]])");
  CHECK(server.review("").status == 400);
}

TEST_CASE("the keys to verify tokens are published", "[tokens]") {
  const token_test server;
  const auto about = server.get("/.well-known/openid-configuration");
  CHECK(about.status == 200);
  CHECK(about.headers.at("cache-control") == "public, max-age=3600");
  CHECK(about.at("issuer") == "https://new");
  CHECK(about.at("jwks_uri").ends_with("/openid/v1/jwks"));
  CHECK(about.at("id_token_signing_alg_values_supported") == R"(["ES256"])");
  const auto keys = server.get("/openid/v1/jwks");
  CHECK(keys.headers.at("content-type") == "application/jwk-set+json");
  CHECK(keys.size("keys") == 1);
  CHECK(keys.at("keys.0.kty") == "EC");
  CHECK(from_base64url(keys.at("keys.0.x"))->size() == 32);
  CHECK(split_token(server.token())->key_id == keys.at("keys.0.kid"));
}

TEST_CASE("an issuer that is no https URL is refused", "[tokens]") {
  const test::scratch_folder folder;
  const auto store = persistence::store::open({}).value();
  const auto make = [&](std::vector<std::string> issuers) {
    return account_tokens::make(*store, account_keys::open(folder.path()).value(),
                                {.issuers = std::move(issuers)});
  };
  CHECK(make({"http://x"}).error() ==
        "service_account.issuer: \"http://x\" is no URL that begins with https://");
  CHECK_FALSE(make({}));
  CHECK(make({"https://x"}).value()->api_audiences() == std::vector<std::string>{"https://x"});
}

}  // namespace troupe::server::testing
