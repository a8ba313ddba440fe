// The bearer token of a WebSocket, as browsers send it.
#include "server/access/socket_token.hpp"

#include <catch2/catch.hpp>

#include "server/credentials/base64url.hpp"
#include "server/fixtures/auth_filter_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

std::string protocol_of(const std::string& token) {
  return "base64url.bearer.authorization.k8s.io." + server::base64url(token);
}

struct socket_server : filtered_server {
  socket_server() {
    api.on("/api/v1/pods", [](auto& request, auto& answer) {
      answer.respond(text_response(request->user->name + " " +
                                   request->headers.joined("sec-websocket-protocol")));
    });
  }
  test::http_answer get(const std::string& protocols, test::http_client::fields headers = {}) {
    test::http_client one{client()};
    headers.insert({{"Connection", "Upgrade"},
                    {"Upgrade", "websocket"},
                    {"Sec-WebSocket-Protocol", protocols}});
    return one.get("/api/v1/pods", headers);
  }
};

}  // namespace

TEST_CASE("a subprotocol with a bearer token authenticates the user, and handlers do not see it") {
  socket_server server;
  const auto got = server.get("v4.channel.k8s.io, " + protocol_of("plain-token") + ", other");
  CHECK(got.status == 200);
  CHECK(got.body == "joe v4.channel.k8s.io, other");
  // Other credentials decide the user; the token is removed nevertheless.
  const auto both =
      server.get("a, " + protocol_of("wrong"), {{"Authorization", "Bearer plain-token"}});
  CHECK(both.body == "joe a");
}

TEST_CASE("a subprotocol with an invalid token is a 401") {
  socket_server server;
  CHECK(server.get("a, " + protocol_of("wrong")).status == 401);
  CHECK(server.get(protocol_of("plain-token")).status == 401);  // no other one to select
  CHECK(server.get("a, " + protocol_of("plain-token") + ", " + protocol_of("plain-token")).status ==
        401);
  CHECK(server.get("a, base64url.bearer.authorization.k8s.io.%%").status == 401);
  // Only for a WebSocket.
  test::http_client plain{server.client()};
  CHECK(plain.get("/api/v1/pods", {{"Sec-WebSocket-Protocol", "a, " + protocol_of("plain-token")}})
            .status == 403);
}
