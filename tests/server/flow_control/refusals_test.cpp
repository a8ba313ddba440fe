// Requests that are refused before any handler are logged; a flood of them makes only a few lines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <mutex>

#include "server/access/audit_log.hpp"
#include "server/access/own_host.hpp"
#include "server/fixtures/audit_lines.hpp"
#include "server/fixtures/auth_filter_fixture.hpp"
#include "server/flow_control/refusal_log.hpp"
#include "server/metrics/request_metrics.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::http_client;

namespace {

double value_of(const families& all, const std::string& name, const labels& with) {
  for (const auto& one : all) {
    if (one.name != name) continue;
    for (const auto& metric : one.metric) {
      const auto fits = [&](const auto& expected) {
        return std::any_of(metric.label.begin(), metric.label.end(), [&](const auto& label) {
          return label.name == expected.first && label.value == expected.second;
        });
      };
      if (std::all_of(with.begin(), with.end(), fits)) return metric.counter.value;
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("refusals are counted under upstream's names and written into the audit log") {
  request_metrics figures;
  http_options options;
  options.body_limit_bytes = 1000;
  options.observe_refusal = [&](const refusal& refusal) { figures.refused(refusal); };
  const audit_lines log;
  filtered_server server{400, 1, options};
  std::mutex keeping;
  std::vector<responder> held;
  server.api.on("/api/v1/services", [&](auto&, auto& answer) {
    const std::lock_guard lock{keeping};
    held.push_back(answer);
  });
  CHECK(server.get("/api/v1/pods", "wrong").status == 401);
  CHECK(server.get("/api/v1/namespaces/kube-system/secrets/x", "plain-token").status == 403);
  http_client large{server.client()};
  CHECK(large
            .request("POST", "/api/v1/pods", std::string(2000, 'x'),
                     filtered_server::headers("writer-a"))
            .status == 413);
  http_client busy{server.client()};
  busy.send_request("POST", "/api/v1/services", "{}", filtered_server::headers("writer-a"));
  REQUIRE(eventually([&] { return server.in_flight_.writes() == 1; }));
  CHECK(server.post("/api/v1/pods", "writer-b").status == 429);
  http_client odd{server.client()};
  odd.connection().send("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n");
  CHECK(odd.receive_answer().status == 400);

  const auto text = log.text();
  CHECK_THAT(text, Contains(R"("verb":"list","resource":"pods","peer":"127.0.0.1:)"));
  CHECK_THAT(text, Contains(R"(,"code":401,"reason":"Unauthorized"})"));
  CHECK_THAT(text, Contains(R"("user":"joe","verb":"get","resource":"secrets",)"
                            R"("namespace":"kube-system","name":"x")"));
  CHECK_THAT(text, Contains(R"(,"code":403,"reason":"Forbidden"})"));
  CHECK_THAT(text, Contains(R"(,"code":413,"reason":"RequestEntityTooLarge"})"));
  CHECK_THAT(text, Contains(R"("user":"b","verb":"create","resource":"pods")"));
  CHECK_THAT(text, Contains(R"(,"code":429,"reason":"TooManyRequests"})"));
  CHECK_THAT(text, Contains(R"(,"code":400,"reason":"BadRequest"})"));

  families out;
  figures.add_to(out);
  const auto total = [&](const char* verb, const char* resource, const char* code) {
    return value_of(out, "apiserver_request_total",
                    {{"verb", verb}, {"resource", resource}, {"code", code}});
  };
  CHECK(total("LIST", "pods", "401") == 1);
  CHECK(total("GET", "secrets", "403") == 1);
  CHECK(total("POST", "pods", "413") == 1);
  CHECK(total("POST", "pods", "429") == 1);
  CHECK(total("LIST", "nodes", "400") == 1);
  CHECK(value_of(out, "authentication_attempts", {{"result", "failure"}}) == 1);
  CHECK(value_of(out, "apiserver_flowcontrol_rejected_requests_total",
                 {{"flow_schema", "global-default"}}) == 1);
}

TEST_CASE("handshakes and client certificates that fail are in the audit log") {
  const audit_lines log;
  test_server server;
  auto raw = server.client();
  raw.tls = false;
  test::wire garbage{raw};
  garbage.send(std::string(200, 'x'));
  CHECK(garbage.wait_for_end());
  CHECK(eventually([&] { return log.count("TLS handshake: ") == 1; }));
  CHECK_THAT(log.text(), Contains(R"({"refused":1,"peer":"127.0.0.1:)"));
}

TEST_CASE("a flood of refusals is counted, not written line by line") {
  const audit_lines log;
  refusal_log refusals;
  const auto start = refusal_log::clock::now();
  request request;
  request.path = "/api/v1/pods";
  for (int i = 0; i < 10'000; ++i)
    refusals.add({.request = &request,
                  .peer = "192.0.2.1:1",
                  .address = 1,
                  .code = 401,
                  .reason = "Unauthorized"},
                 start);
  CHECK(log.count("192.0.2.1") == 1);
  refusals.flush(start + 5s);
  CHECK(log.count("192.0.2.1") == 1);
  refusals.flush(start + 11s);
  CHECK(log.count("192.0.2.1") == 2);
  CHECK_THAT(log.text(), Contains(R"({"refused":9999,)"));
  refusals.flush(start + 22s);
  CHECK(log.count("192.0.2.1") == 2);
}

TEST_CASE("a flood of refusals from many addresses writes a bounded number of lines in a second") {
  const audit_lines log;
  refusal_log refusals;
  const auto start = refusal_log::clock::now();
  for (std::uint64_t i = 1; i <= 10'000; ++i)
    refusals.add({.peer = "many", .address = i, .reason = "TooManyConnections"}, start);
  CHECK(log.count("many\"") <= 100);
  CHECK(log.count("many\"") >= 50);
  refusals.flush(start + 1s);
  CHECK_THAT(log.text(), Contains(R"("reason":"many others")"));
}

TEST_CASE("a browser that a foreign page sends to the open listener is refused") {
  request head;
  const auto status = [&](const std::string& host, const std::string& origin = {}) {
    head.headers.clear();
    if (!host.empty()) head.headers.add("Host", host);
    if (!origin.empty()) head.headers.add("Origin", origin);
    const auto refused = refuse_foreign_page(head, {"one.example"});
    return refused ? refused->status : 200;
  };
  for (const auto* good : {"", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "localhost",
                           "LocalHost:80", "one.example:8080", "One.Example", "192.0.2.1:1"})
    CHECK(status(good) == 200);
  for (const auto* bad : {"evil.example", "evil.example:8080", "localhost.evil.example",
                          "127.0.0.1.evil.example", "[evil]", "[::1", "x@127.0.0.1"})
    CHECK(status(bad) == 403);
  CHECK(status("127.0.0.1:8080", "http://127.0.0.1:8080") == 200);
  CHECK(status("127.0.0.1:8080", "http://evil.example") == 403);
  CHECK(status("127.0.0.1:8080", "null") == 403);
}

TEST_CASE("the listener of 2014 is not for pages of other hosts") {
  routes api;
  api.on("/api/v1beta1/pods", [](auto&, auto& answer) { answer.respond(text_response("pods")); });
  const in_flight room{400, 200};
  open_filter filter{room, api};
  http_server server{{}};
  const auto address = server.listen({"127.0.0.1", 0}, filter).value();
  test::wire_options client;
  client.port = address.port;
  client.tls = false;
  const auto ask = [&](const std::string& host) {
    http_client one{client};
    one.connection().send("GET /api/v1beta1/pods HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return one.receive_answer().status;
  };
  CHECK(ask("127.0.0.1:" + std::to_string(address.port)) == 200);
  CHECK(ask("rebound.example") == 403);
}
