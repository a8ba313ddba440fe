// When a probe's results count, and the requests of probes.
#include "actors/kubelet/health/probe_rules.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/health/health_check.hpp"
#include "actors/kubelet/health/http_check.hpp"
#include "actors/kubelet/runtimes/process/unsupported.hpp"
#include "api/codec/codec.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;

namespace {

Pod pod_from(const std::string& yaml) {
  auto decoded = api::decode(yaml, api::media::yaml, &api::kind_of<Pod>());
  REQUIRE(decoded);
  return static_cast<const Pod&>(*decoded->content);
}

constexpr probe_settings three_of_two{.success_threshold = 2, .failure_threshold = 3};

}  // namespace

TEST_CASE("a probe's result changes after enough equal answers in a row", "[kubelet]") {
  probe_count readiness{probe_kind::readiness, three_of_two};
  CHECK(readiness.result() == probe_result::failure);
  CHECK_FALSE(readiness.take(true));
  CHECK(readiness.take(true));
  CHECK_FALSE(readiness.take(false));
  CHECK_FALSE(readiness.take(false));
  CHECK_FALSE(readiness.take(true));
  CHECK_FALSE(readiness.take(false));
  CHECK_FALSE(readiness.take(false));
  CHECK(readiness.result() == probe_result::success);
  CHECK(readiness.take(false));
  CHECK(readiness.result() == probe_result::failure);
  CHECK_FALSE(readiness.over());
}

TEST_CASE("a liveness probe begins with success and reports one failure for each run",
          "[kubelet]") {
  probe_count liveness{probe_kind::liveness, {.success_threshold = 1, .failure_threshold = 2}};
  CHECK(liveness.result() == probe_result::success);
  CHECK_FALSE(liveness.take(true));
  CHECK_FALSE(liveness.take(false));
  CHECK(liveness.take(false));
  CHECK(liveness.over());
  CHECK_FALSE(liveness.take(true));
  CHECK(liveness.result() == probe_result::failure);
}

TEST_CASE("a startup probe ends with its first result", "[kubelet]") {
  const probe_settings settings{.success_threshold = 1, .failure_threshold = 2};
  probe_count well{probe_kind::startup, settings}, ill{probe_kind::startup, settings};
  CHECK(well.result() == probe_result::unknown);
  CHECK_FALSE(well.take(false));
  CHECK(well.take(true));
  CHECK(well.over());
  CHECK_FALSE(ill.take(false));
  CHECK(ill.take(false));
  CHECK(ill.over());
}

TEST_CASE("a probe's result is that of the last long enough run of equal answers", "[kubelet]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random{seed};
    const probe_settings settings{.success_threshold = 1 + static_cast<int>(random() % 3),
                                  .failure_threshold = 1 + static_cast<int>(random() % 3)};
    const bool ready = random() % 2 == 0;
    probe_count count{probe_kind::readiness, settings, ready};
    bool result = ready;
    std::vector<bool> seen;
    for (int i = 0; i < 40; ++i) {
      seen.push_back(random() % 3 != 0);
      const auto wanted = static_cast<std::size_t>(seen.back() ? settings.success_threshold
                                                               : settings.failure_threshold);
      const bool run = seen.size() >= wanted &&
                       std::all_of(seen.end() - static_cast<std::ptrdiff_t>(wanted), seen.end(),
                                   [&](bool each) { return each == seen.back(); });
      const bool before = result;
      if (run) result = seen.back();
      CAPTURE(seed, i);
      CHECK(count.take(seen.back()) == (before != result));
      CHECK((count.result() == probe_result::success) == result);
    }
  }
}

TEST_CASE("missing fields of a probe get upstream's defaults", "[kubelet]") {
  const auto settings = settings_of(api::core::v1::Probe{});
  CHECK(settings.period == std::chrono::seconds{10});
  CHECK(settings.timeout == std::chrono::seconds{1});
  CHECK(settings.initial_delay.count() == 0);
  CHECK(settings.success_threshold == 1);
  CHECK(settings.failure_threshold == 3);
}

TEST_CASE("ports are found by number and by name", "[kubelet]") {
  const auto pod = pod_from(R"(
spec:
  containers:
  - name: c
    ports: [{name: web, containerPort: 8080}]
    readinessProbe:
      httpGet: {port: web, path: healthz, scheme: HTTPS, httpHeaders: [{name: X, value: y}]}
    livenessProbe: {tcpSocket: {port: 81, host: 10.0.0.9}}
    startupProbe: {httpGet: {port: none}}
)");
  const auto& c = pod.spec().containers(0);
  const auto web = health_check_of(c.readiness_probe().handler(), c, "10.0.0.1");
  REQUIRE(web);
  const auto& http = std::get<http_get_action>(*web);
  CHECK(http.host == "10.0.0.1");
  CHECK(http.port == 8080);
  CHECK(http.path == "/healthz");
  CHECK(http.tls);
  CHECK_THAT(request_text(http),
             Catch::StartsWith("GET /healthz HTTP/1.1\r\nHost: 10.0.0.1:8080\r\n") &&
                 Catch::Contains("\r\nX: y\r\n") && Catch::EndsWith("close\r\n\r\n"));
  const auto tcp = health_check_of(c.liveness_probe().handler(), c, "10.0.0.1");
  REQUIRE(tcp);
  CHECK(std::get<tcp_socket_action>(*tcp).host == "10.0.0.9");
  CHECK(std::get<tcp_socket_action>(*tcp).port == 81);
  const auto none = health_check_of(c.startup_probe().handler(), c, "10.0.0.1");
  REQUIRE_FALSE(none);
  CHECK(none.error() == "container \"c\" has no port \"none\"");
}

TEST_CASE("a port that only begins with a number is invalid", "[kubelet]") {
  for (const char* port : {"8080x", "8080 ", "99999999999", "0x50", "-1"}) {
    INFO(port);
    api::core::v1::ProbeHandler handler;
    auto& port_field = *handler.mutable_tcp_socket()->mutable_port();
    port_field.set_type(1);
    port_field.set_str_val(port);
    CHECK_FALSE(health_check_of(handler, {}, "10.0.0.1"));
    port_field.set_str_val("8080");
    CHECK(health_check_of(handler, {}, "10.0.0.1"));
  }
}

TEST_CASE("the excerpt of an answer in an event ends with a whole character", "[kubelet]") {
  const std::string most(actors::kubelet_defaults::event_text_bytes - 1, 'x');
  CHECK(actors::event_text("short") == "short");
  CHECK(actors::event_text(most + "\u00e9") == most);
  CHECK(actors::event_text(most + "y\u00e9") == most + "y");
}

TEST_CASE("no value of a probe adds a line to its HTTP request", "[kubelet]") {
  const http_get_action check{.host = "h",
                              .port = 1,
                              .path = "/a b\r\nEvil: 1",
                              .headers = {{"A", "1\r\nEvil: 2"}, {"B\nEvil", "3"}, {"Host", "x"}}};
  CHECK(request_text(check) ==
        "GET /a%20b%0D%0AEvil:%201 HTTP/1.1\r\nHost: x\r\nUser-Agent: kube-probe/troupe\r\n"
        "Accept: */*\r\nConnection: close\r\n\r\n");
}

TEST_CASE("any HTTP reply is handled", "[kubelet]") {
  const auto moved = parse_reply("HTTP/1.1 302 Found\r\nlocation:  /there \r\n\r\nbody");
  REQUIRE(moved);
  CHECK(moved->status == 302);
  CHECK(moved->location == "/there");
  CHECK(moved->body == "body");
  CHECK(parse_reply("HTTP/1.0 204")->status == 204);
  for (const char* broken : {"", "\n", "HTTP/1.1", "HTTP/1.1 2", "HTTP/1.1 xyz", "SSH-2.0-x\r\n"})
    CHECK_FALSE(parse_reply(broken));
  std::mt19937_64 random{7};
  for (int i = 0; i < 2'000; ++i) {
    std::string text = "HTTP/1.1 200 OK\r\nLocation: /x\r\n\r\nabc";
    for (int n = 0; n < 4; ++n)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    text.resize(random() % (text.size() + 1));
    static_cast<void>(parse_reply(text));
  }
}

TEST_CASE("fields that the process runtime does not support are listed", "[kubelet]") {
  CHECK(unsupported_features(pod_from("spec: {containers: [{name: c}]}"), false).empty());
  const auto pod = pod_from(R"(
spec:
  securityContext: {fsGroup: 7}
  hostAliases: [{ip: 1.2.3.4}]
  subdomain: shop
  setHostnameAsFQDN: true
  containers:
  - name: c
    securityContext: {runAsUser: 1, privileged: false}
    resources: {limits: {ephemeral-storage: 1Gi}}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: FallbackToLogsOnError
)");
  CHECK(unsupported_features(pod, true) ==
        std::vector<std::string>{"spec.hostAliases", "spec.subdomain", "spec.setHostnameAsFQDN",
                                 "spec.containers{c}.resources.limits[ephemeral-storage]",
                                 "spec.containers{c}.terminationMessagePolicy"});
  const auto limited =
      pod_from("spec: {containers: [{name: c, resources: {limits: {memory: 1Gi}}}]}");
  CHECK(unsupported_features(limited, true).empty());
  CHECK(unsupported_features(limited, false) ==
        std::vector<std::string>{"spec.containers{c}.resources.limits[memory]"});
}

}  // namespace troupe::actors
