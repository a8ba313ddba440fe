// A plain server behind a gate with users whose tokens are their names, and a client for it.
#pragma once

#include <memory>
#include <string>

#include "server/authorization.hpp"
#include "server/fixture.hpp"
#include "server/gate.hpp"

namespace troupe::server::testing {

// "master-token" is root of system:masters, "plain-token" joe of dev, "node-X" the node X and
// "writer-X" the user X of writers.
struct named_tokens final : token_source {
  user_ptr find(std::string_view token) const override {
    const auto user = [](std::string name, std::string group) {
      return std::make_shared<user_info>(user_info{std::move(name), "", {std::move(group)}});
    };
    if (token == "master-token") return user("root", "system:masters");
    if (token == "plain-token") return user("joe", "dev");
    if (token.starts_with("node-"))
      return user("system:node:" + std::string{token.substr(5)}, "system:nodes");
    if (token.starts_with("writer-")) return user(std::string{token.substr(7)}, "writers");
    return nullptr;
  }
};

// Lets joe read pods, writers and nodes do everything, and forbids the others the secrets.
struct some_for_some final : authorizer {
  verdict judge(const user_info& user, const request_info& what) const override {
    if (user.in_group("writers") || user.in_group("system:nodes")) return verdict::allow;
    if (what.resource == "secrets") return verdict::deny;
    return user.name == "joe" && what.resource == "pods" && !what.mutates() ? verdict::allow
                                                                            : verdict::no_opinion;
  }
};

class gated_server {
 public:
  explicit gated_server(std::size_t reads = 400, std::size_t writes = 200,
                        http_options options = {})
      : room{reads, writes}, server{options} {
    where = server.listen({"127.0.0.1", 0}, door).value();
    api.on("/api/v1/pods", [](auto& what, auto& answer) {
      answer.respond(text_response(what->user->name + " " + what->info.verb));
    });
  }

  test::wire_options client() const {
    test::wire_options options;
    options.port = where.port;
    options.tls = false;
    return options;
  }
  test::http_answer get(const std::string& path, const std::string& token = {}) const {
    test::http_client one{client()};
    return one.get(path, headers(token));
  }
  test::http_answer post(const std::string& path, const std::string& token) const {
    test::http_client one{client()};
    return one.request("POST", path, "{}", headers(token));
  }
  static test::http_client::fields headers(const std::string& token) {
    if (token.empty()) return {};
    return {{"Authorization", "Bearer " + token}};
  }

  routes api;
  authenticator who{{std::make_shared<named_tokens>()}};
  authorization may{{std::make_shared<some_for_some>()}};
  in_flight room;
  health_checks health;
  gate door{who, may, room, health, api};
  http_server server;
  endpoint where;
};

}  // namespace troupe::server::testing
