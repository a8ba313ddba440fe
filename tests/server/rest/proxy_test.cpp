// Requests that are forwarded to pods and services, and their responses.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "server/credentials/pki.hpp"
#include "server/fixtures/http_backend.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/fixtures/stream_clients.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/proxy_target.hpp"
#include "server/rest/proxy/response_parser.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string services = "/api/v1/namespaces/default/services";

struct proxy_test {
  const std::shared_ptr<http_backend> backend = std::make_shared<http_backend>();
  rest_test server{{.rest = {.permissions = nullptr, .streams = backend, .observe = {}}}};

  proxy_test() {
    server.create_pod("web");
    server.post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
    server.request("PATCH", pods + "/web/status", R"({"status":{"podIP":"10.0.0.7"}})",
                   {{"content-type", "application/merge-patch+json"}});
  }
};

}  // namespace

TEST_CASE("a request to a pod's port arrives without the API server's own header fields") {
  proxy_test t;
  t.backend->answer =
      "HTTP/1.1 201 Created\r\nContent-Type: text/x\r\nX-Own: 1\r\nX-Hop: 2\r\n"
      "Connection: X-Hop, close\r\nAccess-Control-Allow-Origin: *\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  t.backend->piece = 1;
  const auto got = t.server.request("POST", pods + "/web:8080/proxy/a%20b/?x=1&y=%2F", "body",
                                    {{"Authorization", "Bearer secret"},
                                     {"Impersonate-User", "me"},
                                     {"X-Mine", "kept"},
                                     {"Connection", "X-Gone"},
                                     {"X-Gone", "1"},
                                     {"X-Forwarded-For", "1.2.3.4"}});
  CHECK(got.status == 201);
  CHECK(got.text() == "abcde");
  CHECK(got.headers.at("content-type") == "text/x");
  CHECK(got.headers.at("x-own") == "1");
  CHECK_FALSE(got.headers.contains("x-hop"));
  CHECK_FALSE(got.headers.contains("access-control-allow-origin"));
  CHECK(t.backend->port() == 8080);
  const auto sent = t.backend->received();
  CHECK_THAT(sent, Catch::StartsWith("POST /a%20b/?x=1&y=%2F HTTP/1.1\r\n"));
  CHECK_THAT(sent, Contains("x-mine: kept\r\n") && Contains("content-length: 4\r\n") &&
                       Contains("connection: close\r\n") &&
                       Contains("x-forwarded-for: 1.2.3.4, 127.0.0.1\r\n") &&
                       Contains("x-forwarded-uri: " + pods + "/web:8080/proxy/a%20b/\r\n"));
  CHECK_THAT(sent, !Contains("secret") && !Contains("impersonate") && !Contains("x-gone"));
  CHECK_THAT(sent, Catch::EndsWith("\r\n\r\nbody"));
}

TEST_CASE("a compressed body is passed on as it is") {
  proxy_test t;
  t.backend->respond = [](const std::string&) {
    return std::string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"};
  };
  CHECK(t.server
            .request("POST", pods + "/web:8080/proxy/write", "\x1f\x8b packed",
                     {{"Content-Encoding", "gzip"}})
            .status == 200);
  CHECK_THAT(t.backend->received(),
             Contains("content-encoding: gzip\r\n") && Catch::EndsWith("\r\n\r\n\x1f\x8b packed"));
  CHECK(t.server.request("POST", pods, "{}", {{"Content-Encoding", "gzip"}}).status == 415);
}

TEST_CASE(
    "the media type and the parameters of a request are left to the server behind the proxy") {
  proxy_test t;
  const test::http_client::fields accept{{"Accept", "text/event-stream"}};
  CHECK(t.server.get(pods + "/web/proxy/?includeObject=all", accept).status == 200);
  CHECK_THAT(t.backend->received(), Contains("GET /?includeObject=all HTTP/1.1\r\n") &&
                                        Contains("accept: text/event-stream\r\n"));
  CHECK(t.server.get(pods, accept).status == 406);
}

TEST_CASE("every method is passed on, and a page without a path is redirected to one") {
  proxy_test t;
  for (const std::string method : {"GET", "PUT", "PATCH", "DELETE"}) {
    CAPTURE(method);
    t.backend->answer = "HTTP/1.0 200 OK\r\n\r\nup to the end";
    CHECK(t.server.request(method, pods + "/web/proxy/", "", {}).text() == "up to the end");
    CHECK_THAT(t.backend->received(), Contains(method + " / HTTP/1.1\r\n"));
    CHECK(t.backend->port() == 80);
  }
  const auto bare = t.server.get(pods + "/web:80/proxy?a=b");
  CHECK(bare.status == 301);
  CHECK(bare.headers.at("location") == pods + "/web:80/proxy/?a=b");
  // A response to HEAD has no body, whatever its length field says.
  t.backend->answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nX-Own: 1\r\n\r\n";
  test::http_client client{t.server.where()};
  client.send_request("HEAD", pods + "/web/proxy/");
  CHECK(client.receive_answer(false).header("x-own") == "1");
}

TEST_CASE("unreachable pods and services are reported in upstream's words") {
  proxy_test t;
  const auto refused = t.server.get(pods + "/web:81/proxy/");
  CHECK(refused.status == 503);
  CHECK(refused.at("reason") == "ServiceUnavailable");
  CHECK(refused.at("message") == "error trying to reach service: connection refused");
  t.backend->answer = "no HTTP\r\n\r\n";
  CHECK_THAT(t.server.get(pods + "/web/proxy/").at("message"), Contains("malformed HTTP response"));
  t.backend->answer = "HTTP/1.1 200";
  CHECK(t.server.get(pods + "/web/proxy/").at("message") == "error trying to reach service: EOF");
  CHECK(t.server.get(pods + "/none/proxy/").status == 404);
  CHECK(t.server.get(pods + "/web:x/proxy/").status == 400);
  CHECK(t.server.get(pods + "/ftp:web:1/proxy/").at("message") ==
        "invalid pod request \"ftp:web:1\"");
  t.server.create_pod("lost");
  CHECK_THAT(t.server.get(pods + "/lost/proxy/").at("message"),
             Contains("pod lost does not have a host assigned"));
}

TEST_CASE("a response that ends early is recognized as incomplete") {
  proxy_test t;
  t.backend->answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
  test::http_client client{t.server.where()};
  client.send_request("GET", pods + "/web/proxy/");
  client.receive_head();
  while (client.next_chunk()) {
  }
  CHECK(client.connection().wait_for_end());
}

TEST_CASE("a client that reads nothing holds up its pod, and gets all of it later") {
  proxy_test t;
  constexpr std::size_t size = 64u << 20;
  t.backend->answer = "HTTP/1.1 200 OK\r\n\r\n" + std::string(size, 'x');
  test::http_client client{t.server.where()};
  client.send_request("GET", pods + "/web/proxy/");
  client.receive_head();
  // The pod always has more: the actor waits only if the client does not read.
  REQUIRE(rest_test::eventually([&] {
    bool rests = false;
    t.server.plane().system().actors().each([&](const runtime::actor_info& each) {
      rests = rests || (each.kind == "proxy" && each.mailbox == 0 && each.current.empty());
    });
    return rests && t.backend->given() > (1u << 20);
  }));
  CHECK(t.backend->given() < size);
  std::size_t got = 0;
  while (const auto chunk = client.next_chunk())
    got += chunk->size();
  CHECK(got == size);
}

TEST_CASE("a port with TLS is reached by https, without verification of its certificate") {
  proxy_test t;
  test::scratch_folder folder;
  const auto keys =
      server::pki::open({folder.path() / "pki", {}}, std::chrono::system_clock::now());
  REQUIRE(keys.has_value());
  const auto identity = server::tls_identity::make((*keys)->server());
  REQUIRE(identity.has_value());
  t.backend->tls = (*identity)->context();
  t.backend->answer = "HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 's');
  const auto got = t.server.post(pods + "/https:web:8443/proxy/in", std::string(200'000, 'b'));
  CHECK(got.status == 200);
  CHECK(got.text() == std::string(100'000, 's'));
  CHECK_THAT(t.backend->received(), Catch::StartsWith("POST /in HTTP/1.1\r\n"));
  // A server without TLS gives another error than one that refuses.
  t.backend->tls = nullptr;
  t.backend->answer = "HTTP/1.1 200 OK\r\n\r\n";
  t.backend->keeps = false;
  t.backend->greets = true;
  CHECK_THAT(t.server.get(pods + "/https:web:/proxy/").at("message"),
             Contains("error trying to reach service: tls: "));
}

TEST_CASE("a WebSocket to a pod carries bytes both ways") {
  proxy_test t;
  t.backend->echoes = true;
  t.backend->answer =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Protocol: chat\r\n\r\n\x81\x02hi";
  test::http_client client{t.server.where()};
  client.send_request("GET", pods + "/web/proxy/ws", {},
                      {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
  const auto head = client.receive_head();
  CHECK(head.status == 101);
  CHECK(head.header("sec-websocket-protocol") == "chat");
  CHECK(client.receive_exactly(4) == "\x81\x02hi");
  client.connection().send("as it is");
  CHECK(client.receive_exactly(8) == "as it is");
  CHECK_THAT(t.backend->received(),
             Contains("connection: Upgrade\r\n") && Contains("upgrade: websocket\r\n"));
}

TEST_CASE("a service is any ready pod behind its port, and no other address") {
  proxy_test t;
  t.server.post(services, R"({"metadata":{"name":"s"},"spec":{"ports":[
      {"name":"http","port":8000,"targetPort":80}]}})");
  const auto slice = [](const std::string& ready, const std::string& uid) {
    return fmt::format(
        R"({{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",
        "metadata":{{"name":"s-1","labels":{{"kubernetes.io/service-name":"s"}}}},
        "addressType":"IPv4","ports":[{{"name":"http","port":8080,"protocol":"TCP"}}],
        "endpoints":[{{"addresses":["10.0.0.7"],"conditions":{{"ready":{}}},
        "targetRef":{{"kind":"Pod","name":"web","namespace":"default","uid":"{}"}}}}]}})",
        ready, uid);
  };
  const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  const auto none = t.server.get(services + "/s:http/proxy/");
  CHECK(none.status == 503);
  CHECK(none.at("message") == "no endpoints available for service \"s:http\"");
  const auto uid = t.server.get(pods + "/web").at("metadata.uid");
  REQUIRE(t.server.post(slices, slice("true", uid)).status == 201);
  CHECK(t.server.get(services + "/s:http/proxy/").text() == "ok");
  CHECK(t.backend->port() == 8080);
  CHECK(t.server.get(services + "/s:8000/proxy/").text() == "ok");
  CHECK(t.server.get(services + "/s:1/proxy/").at("message") ==
        "no service port 1 found for service \"s\"");
  CHECK(t.server.get(services + "/s/proxy/").status == 503);  // its port is named
  for (const auto& other : {slice("false", uid), slice("true", "another")}) {
    REQUIRE(t.server.remove(slices + "/s-1").status == 200);
    REQUIRE(t.server.post(slices, other).status == 201);
    CHECK(t.server.get(services + "/s:http/proxy/").status == 503);
  }
}

TEST_CASE("a node says whether it is well and which pods it has, and nothing else") {
  proxy_test t;
  t.server.post("/api/v1/nodes",
                R"({"metadata":{"name":"n1"},"status":{"conditions":[
                {"type":"Ready","status":"True"}]}})");
  CHECK(t.server.get("/api/v1/nodes/n1/proxy/healthz").text() == "ok");
  const auto list = t.server.get("/api/v1/nodes/n1:10250/proxy/pods");
  CHECK(list.at("kind") == "PodList");
  CHECK(list.size("items") == 1);
  CHECK(list.at("items.0.metadata.name") == "web");
  CHECK(t.server.get("/api/v1/nodes/n1/proxy/configz").status == 404);
  CHECK(t.server.get("/api/v1/nodes/n2/proxy/healthz").status == 404);
  // Only a proxy's path may continue after its name.
  CHECK(t.server.get(pods + "/web/log/more").status == 404);
}

TEST_CASE("a place on the pod itself is shown below the proxy, others are as they were") {
  const auto shown = [](const std::string& location) {
    return server::rewrite_location(location, "/p/proxy", "10.0.0.7:80", "api:6443");
  };
  CHECK(shown("/login?x=/y") == "/p/proxy/login?x=/y");
  CHECK(shown("http://10.0.0.7:80/a") == "/p/proxy/a");
  CHECK(shown("https://api:6443/a") == "https://api:6443/p/proxy/a");
  CHECK(shown("//elsewhere/a") == "//elsewhere/a");
  CHECK(shown("https://elsewhere/a") == "https://elsewhere/a");
  CHECK(shown("next") == "next");
  CHECK(shown("/p/proxy/a") == "/p/proxy/a");
  CHECK(shown("/p/proxyless") == "/p/proxy/p/proxyless");
}

TEST_CASE("the head of an answer is bounded, and interim answers are left out") {
  using server::response_parser;
  response_parser interim{false};
  CHECK_FALSE(interim.feed("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n"));
  REQUIRE(interim.head() != nullptr);
  CHECK(interim.head()->status == 204);
  CHECK(interim.complete());
  response_parser endless{false};
  std::optional<std::string> problem;
  for (int i = 0; i < 10 && !problem; ++i)
    problem = endless.feed("HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(problem);
  response_parser large{false};
  problem = large.feed("HTTP/1.1 200 OK\r\n");
  for (int i = 0; i < 100 && !problem; ++i)
    problem = large.feed("a: " + std::string(10'000, 'x') + "\r\n");
  CHECK(problem);
  response_parser chunks{false};
  problem = chunks.feed("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
  for (int i = 0; i < 100 && !problem; ++i)
    problem = chunks.feed("1;" + std::string(10'000, 'x'));
  CHECK(problem);
  response_parser coded{false};
  CHECK(coded.feed("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"));
}

TEST_CASE("names of proxies have upstream's forms") {
  using server::parse_proxy_name;
  CHECK(parse_proxy_name("web")->port.empty());
  CHECK(parse_proxy_name("web:80")->port == "80");
  CHECK(parse_proxy_name("https:web:")->tls);
  CHECK_FALSE(parse_proxy_name("http:web:80")->tls);
  for (const auto* wrong : {"", ":80", "ftp:web:80", "https::80", "a:b:c:d"})
    CHECK_FALSE(parse_proxy_name(wrong));
}
