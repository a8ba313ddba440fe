#include <openssl/ssl.h>

#include <catch2/catch.hpp>

#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using test::http_client;

namespace {

// The user that the server derives from the client's certificate, or the refusal.
std::string seen_user(test_server& server, const test::wire_options& options) {
  std::string found;
  server.site.on("/who", [&](auto& request, auto& answer) {
    const auto& connection = *request->connection;
    if (connection.certificate_user) {
      found = connection.certificate_user->name;
      for (const auto& group : connection.certificate_user->groups)
        found += "," + group;
    } else {
      found = "nobody: " + connection.certificate_error;
    }
    answer.respond(text_response(""));
  });
  http_client client{options};
  client.get("/who");
  return found;
}

}  // namespace

TEST_CASE("TLS 1.2 and 1.3 are spoken, older versions refused") {
  test_server server;
  auto options = server.client();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    options.lowest_version = options.highest_version = version;
    http_client client{options};
    CHECK(client.get("/hello").status == 200);
    CHECK(client.connection().tls_version() == (version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3"));
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    options.lowest_version = options.highest_version = version;
    CHECK_THROWS(http_client{options});
  }
  CHECK(eventually([&] { return server.server().stats().failed_handshakes == 2; }));
}

TEST_CASE("ALPN chooses HTTP/2 where it is offered, else HTTP/1.1") {
  test_server server;
  auto options = server.client();
  options.protocols = {"h2", "http/1.1"};
  CHECK(test::wire{options}.protocol() == "h2");
  options.protocols = {"http/1.1"};
  CHECK(test::wire{options}.protocol() == "http/1.1");
  options.protocols = {"spdy/3"};
  http_client other{options};
  CHECK(other.connection().protocol().empty());
  CHECK(other.get("/hello").status == 200);
}

TEST_CASE("a client certificate of our authority names user and groups") {
  test_server server;
  CHECK(seen_user(server, server.client_with_certificate()) ==
        "alice,editors,system:masters,system:authenticated");
  CHECK(seen_user(server, server.client()) == "nobody: ");
}

TEST_CASE("a client certificate that expires names no user in later requests of its connection") {
  using namespace std::chrono_literals;
  test_server server;
  std::string found;
  server.site.on("/who", [&](auto& request, auto& answer) {
    const auto& by = *request->connection;
    found = by.certificate_user ? by.certificate_user->name : by.certificate_error;
    answer.respond(text_response(""));
  });
  const auto now = std::chrono::system_clock::now();
  const auto brief =
      server::x509::issue(test_identities::get().authority, {"alice", {}, {}, {now - 1h, now + 6s}})
          .value();
  auto options = server.client();
  options.certificate = brief.certificate;
  options.private_key = brief.private_key;
  http_client client{options};
  REQUIRE(client.get("/who").status == 200);
  CHECK(found == "alice");
  CHECK(eventually([&] { return client.get("/who").status == 200 && found != "alice"; }));
  CHECK(found == "certificate has expired");
}

// A request of a key EC P-256 for CN=system:node:n2, CN=system:node:n1, and the key.
constexpr const char* request_with_two_names = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBBDCBqwIBADBJMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4yMRcwFQYDVQQDDA5zeXN0ZW06bm9kZTpuMTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABBsGHuToMALg1YDVBPvjkD7SuVPyMONP+JnBWGKF4jKY
CpoADRVh0BGs7/bxHVudbrBiRlI47Cz5yaqZKWMcUtqgADAKBggqhkjOPQQDAgNI
ADBFAiBO8Td0IelAbnmWROx/9RKC20HRn15gHwJWSrXNtR6YQAIhAKEzYIXWZvCo
SMmbrSlQSyumQOOe0GpmdOlGye+A/TnJ
-----END CERTIFICATE REQUEST-----
)";
constexpr const char* its_key = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs55MO/TxbFBDYfSy
0oStFX/NhOCMqJQKV9jWRaw7Ib2hRANCAAQbBh7k6DAC4NWA1QT745A+0rlT8jDj
T/iZwVhiheIymAqaAA0VYdARrO/28R1bnW6wYkZSOOws+cmqmSljHFLa
-----END PRIVATE KEY-----
)";

TEST_CASE("of several common names the last one counts, as where a request is checked") {
  using namespace std::chrono_literals;
  test_server server;
  const auto now = std::chrono::system_clock::now();
  auto options = server.client();
  options.certificate =
      server::x509::certify_request(test_identities::get().authority, request_with_two_names,
                                    {{now - 1h, now + 1h}, "digitalSignature", "clientAuth"})
          .value();
  options.private_key = its_key;
  CHECK(seen_user(server, options) == "system:node:n1,system:nodes,system:authenticated");
}

TEST_CASE("a foreign, an expired and a server's certificate authenticate nobody, with the reason") {
  using namespace std::chrono_literals;
  test_server server;
  const auto now = std::chrono::system_clock::now();
  const auto& ours = test_identities::get();
  auto options = server.client();

  const auto foreign = server::x509::make_authority("test authority", {now - 1h, now + 1h}).value();
  const auto forged =
      server::x509::issue(foreign, {"alice", {"system:masters"}, {}, {now - 1h, now + 1h}}).value();
  options.certificate = forged.certificate;
  options.private_key = forged.private_key;
  CHECK(seen_user(server, options) == "nobody: unable to verify the first certificate");

  const auto old =
      server::x509::issue(ours.authority, {"alice", {}, {}, {now - 2h, now - 1h}}).value();
  options.certificate = old.certificate;
  options.private_key = old.private_key;
  CHECK(seen_user(server, options) == "nobody: certificate has expired");

  options.certificate = ours.server.certificate;
  options.private_key = ours.server.private_key;
  CHECK(seen_user(server, options).starts_with("nobody: "));
  CHECK(seen_user(server, options) != "nobody: ");
}

TEST_CASE("certificates are replaced without a restart and without ending connections") {
  using namespace std::chrono_literals;
  test_server server;
  http_client before{server.client()};
  CHECK(before.get("/hello").status == 200);
  const auto now = std::chrono::system_clock::now();
  auto material = test_identities::get().material();
  const auto fresh = server::x509::issue(test_identities::get().authority,
                                         {"server", {}, {"127.0.0.1"}, {now - 1h, now + 48h}})
                         .value();
  material.certificates = fresh.certificate;
  material.private_key = fresh.private_key;
  REQUIRE(server.identity().replace(material));
  http_client after{server.client()};
  CHECK(after.get("/hello").status == 200);
  CHECK(after.connection().peer_certificate() == fresh.certificate);
  CHECK(before.connection().peer_certificate() == test_identities::get().server.certificate);
  CHECK(before.get("/hello").status == 200);

  material.private_key = test_identities::get().server.private_key;
  const auto refused = server.identity().replace(material);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find("private key does not belong") != std::string::npos);
  http_client still{server.client()};
  CHECK(still.get("/hello").status == 200);
}

TEST_CASE("a listener on IPv6 loopback serves and is printed in brackets") {
  routes site;
  server::http_server server{{}};
  const auto address = server.listen({"::1", 0}, site);
  REQUIRE(address);
  CHECK(to_string(*address) == "[::1]:" + std::to_string(address->port));
  std::string peer;
  site.on("/peer", [&](auto& request, auto& answer) {
    peer = request->connection->peer;
    answer.respond(text_response(""));
  });
  test::wire_options options;
  options.host = "::1";
  options.port = address->port;
  options.tls = false;
  http_client client{options};
  CHECK(client.get("/peer").status == 200);
  CHECK(peer.starts_with("[::1]:"));
}

TEST_CASE("a port in use, a foreign address and a host name are one clear line each") {
  test_server running;
  routes site;
  server::http_server server{{}};
  const auto taken = server.listen({"127.0.0.1", running.port()}, site);
  REQUIRE_FALSE(taken);
  CHECK(taken.error() == "cannot listen on 127.0.0.1:" + std::to_string(running.port()) +
                             ": the port is in use by another program; stop it or choose another "
                             "port");
  const auto foreign = server.listen({"203.0.113.7", 0}, site);
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().find("this machine has no such address") != std::string::npos);
  const auto name = server.listen({"example.com", 443}, site);
  REQUIRE_FALSE(name);
  CHECK(name.error() ==
        "cannot listen on example.com:443: expected an IPv4 or IPv6 address, such as 127.0.0.1 or "
        "::1");
}
