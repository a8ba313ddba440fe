// Impersonation: who may impersonate whom, and the user in authorization, writes and the audit log.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "server/access/authentication.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/frontend/auth_filter.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using test::http_client;

namespace {

struct two_tokens final : server::token_source {
  server::user_ptr find(std::string_view token) const override {
    if (token == "master") return user("root", {"system:masters"});
    if (token == "plain") return user("joe", {"dev"});
    return nullptr;
  }
  static server::user_ptr user(std::string name, std::vector<std::string> groups) {
    return std::make_shared<server::user_info>(
        server::user_info{std::move(name), "", std::move(groups)});
  }
};

// The API behind its auth_filter.
class guarded_api {
 public:
  guarded_api() {
    test::wire_options options;
    options.port = server.listen({"127.0.0.1", 0}, filter).value().port;
    options.tls = false;
    client.emplace(options);
  }

  rest_answer ask(const std::string& method, const std::string& path, http_client::fields as,
                  const std::string& body = {}, const std::string& token = "master") {
    as["Authorization"] = "Bearer " + token;
    if (!body.empty()) as["Content-Type"] = "application/json";
    return client->request(method, path, body, as);
  }
  rest_answer who_am_i(http_client::fields as) {
    return ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", std::move(as), "{}");
  }
  std::string may_delete_pods(http_client::fields as) {
    return ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", std::move(as),
               R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}})")
        .at("status.allowed");
  }

  server::authenticator users{{std::make_shared<two_tokens>()}};
  server::authorization may{{}};
  rest_test rest{{.rest = {.permissions = &may, .observe = {}}}};
  server::in_flight room{400, 200};
  server::health_checks health;
  server::auth_filter filter{users, may, room, health, rest.api()};
  server::http_server server{{}};
  std::optional<http_client> client;
};

const std::string maps = "/api/v1/namespaces/default/configmaps";

}  // namespace

TEST_CASE("an impersonated request has the rights of the impersonated user") {
  guarded_api api;
  REQUIRE(api.ask("POST", maps, {}, R"({"metadata":{"name":"m"}})").status == 201);
  const auto refused = api.ask("DELETE", maps + "/m", {{"Impersonate-User", "nobody"}});
  CHECK(refused.status == 403);
  CHECK(refused.at("message") ==
        "configmaps \"m\" is forbidden: User \"nobody\" cannot delete resource \"configmaps\" in "
        "API group \"\" in the namespace \"default\"");
  CHECK(api.may_delete_pods({{"Impersonate-User", "nobody"}}) == "false");
  CHECK(api.may_delete_pods({}) == "true");
  const http_client::fields master{{"Impersonate-User", "boss"},
                                   {"Impersonate-Group", "system:masters"}};
  CHECK(api.may_delete_pods(master) == "true");
  CHECK(api.ask("DELETE", maps + "/m", master).status == 200);
}

TEST_CASE("a review shows the impersonated user with all given attributes") {
  guarded_api api;
  const auto groups = [&](http_client::fields as) {
    return api.who_am_i(std::move(as)).at("status.userInfo.groups");
  };
  const auto found = api.who_am_i({{"Impersonate-User", "jane"},
                                   {"Impersonate-Uid", "u-1"},
                                   {"Impersonate-Group", "dev"},
                                   {"impersonate-group", "ops"},
                                   {"Impersonate-Extra-example.com%2fScopes", "view"}});
  CHECK(found.at("status.userInfo.username") == "jane");
  CHECK(found.at("status.userInfo.uid") == "u-1");
  CHECK(found.at("status.userInfo.groups") == R"(["dev","ops","system:authenticated"])");
  CHECK(found.at("status.userInfo.extra") == R"({"example.com/scopes":["view"]})");
  CHECK(groups({{"Impersonate-User", "jane"}}) == R"(["system:authenticated"])");
  CHECK(groups({{"Impersonate-User", "system:serviceaccount:a:b"}}) ==
        R"(["system:serviceaccounts","system:serviceaccounts:a","system:authenticated"])");
  // An impersonated anonymous user is not authenticated.
  CHECK(api.who_am_i({{"Impersonate-User", "system:anonymous"}}).status == 403);
}

TEST_CASE("only masters may impersonate, and groups need a user") {
  guarded_api api;
  const auto refused =
      api.ask("GET", maps, {{"Impersonate-User", "root"}, {"Impersonate-Group", "g"}}, {}, "plain");
  CHECK(refused.status == 403);
  CHECK(refused.at("message") ==
        "groups \"g\" is forbidden: User \"joe\" cannot impersonate resource \"groups\" in API "
        "group \"\" at the cluster scope");
  CHECK(api.ask("GET", "/readyz", {{"Impersonate-User", "joe"}}, {}, "plain").status == 403);
  for (const std::string part : {"Group", "Uid", "Extra-scopes"}) {
    const auto alone = api.ask("GET", maps, {{"Impersonate-" + part, "g"}});
    CHECK(alone.status == 400);
    CHECK_THAT(alone.at("message"), Catch::EndsWith("\"g\" without impersonating a user"));
  }
}

TEST_CASE("the audit log names the user and the impersonated user") {
  guarded_api api;
  REQUIRE(api.ask("POST", maps, {}, R"({"metadata":{"name":"m"}})").status == 201);
  const auto log = spdlog::get("audit");
  REQUIRE(log != nullptr);
  std::ostringstream lines;
  log->sinks().push_back(std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  const auto level = log->level();
  log->set_level(spdlog::level::info);
  api.ask("DELETE", maps + "/m",
          {{"Impersonate-User", "boss"}, {"Impersonate-Group", "system:masters"}});
  log->set_level(level);
  log->sinks().pop_back();
  CHECK_THAT(lines.str(), Catch::Contains(R"("user":"root","impersonatedUser":"boss")"));
}
