// /metrics: names that dashboards look for, in the form that Prometheus reads.
#include "actors/core/metrics.hpp"

#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "actors/control_plane/leading_actors.hpp"
#include "actors/controllers/registry.hpp"
#include "server/fixtures/console_fixture.hpp"

using namespace troupe::server::testing;
namespace actors = troupe::actors;
using Catch::Matchers::Contains;

namespace {

// The value of the first line with that prefix; below 0 if there is none.
double value_of(const std::string& text, const std::string& line_begin) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(line_begin)) return std::stod(line.substr(line.rfind(' ') + 1));
  return -1;
}

}  // namespace

TEST_CASE("metrics have upstream's names and count events") {
  console_test t;
  t.create_controller("web", 3);
  REQUIRE(rest_test::eventually([&] {
    const auto now = t.get("/metrics").text();
    return value_of(now, "scheduler_pending_pods{queue=\"unschedulable\"}") == 3 &&
           value_of(now, "troupe_actors{kind=\"pod\"}") == 3;
  }));
  // Dashboards leave out the subresources whose requests take as long as their clients want.
  CHECK(t.get("/api/v1/namespaces/default/pods/none/proxy/").status == 404);
  const auto answer = t.get("/metrics");
  CHECK_THAT(answer.headers.at("content-type"), Contains("text/plain; version=0.0.4"));
  const auto& text = answer.text();
  CHECK(value_of(text,
                 "apiserver_request_total{component=\"apiserver\",dry_run=\"\",group=\"\","
                 "resource=\"replicationcontrollers\",scope=\"namespace\",subresource=\"\","
                 "verb=\"POST\",version=\"v1\",code=\"201\"}") == 1);
  CHECK(value_of(text,
                 "apiserver_request_total{component=\"apiserver\",dry_run=\"\",group=\"\","
                 "resource=\"pods\",scope=\"resource\",subresource=\"proxy\",verb=\"GET\","
                 "version=\"v1\",code=\"404\"}") == 1);
  CHECK(value_of(text, "apiserver_storage_objects{resource=\"pods\"}") == 3);
  CHECK(value_of(text, "workqueue_adds_total{name=\"writer\"}") > 3);
  CHECK(value_of(text, "troupe_actors{kind=\"pod\"}") == 3);
  CHECK(value_of(text, "etcd_debugging_mvcc_current_revision") > 3);
  CHECK(value_of(text, "process_resident_memory_bytes") > 1e6);
  CHECK(value_of(text, "process_open_fds") > 3);
  CHECK(value_of(text, "troupe_http_connections ") >= 1);
  CHECK(value_of(text,
                 "scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                 "result=\"unschedulable\"}") >= 3);
}

TEST_CASE("metrics of the machine have the names of upstream's kubelet and of CoreDNS") {
  auto& kubelet = actors::metrics_of_kubelet();
  auto& dns = actors::metrics_of_dns();
  console_test t;
  actors::gauge_share pods{kubelet.running_pods}, containers{kubelet.running_containers};
  pods.set(1);
  containers.set(2);
  kubelet.pod_starts.add(std::chrono::milliseconds{20});
  kubelet.relists.add(std::chrono::milliseconds{1});
  kubelet.count_eviction("nodefs.inodesFree");
  ++dns.stream_requests;
  ++dns.responses[3];
  const auto text = t.get("/metrics").text();
  CHECK(value_of(text, "kubelet_running_pods ") >= 1);
  CHECK(value_of(text, "kubelet_running_containers{container_state=\"running\"} ") >= 2);
  CHECK(value_of(text, "kubelet_pod_start_duration_seconds_count ") >= 1);
  CHECK(value_of(text, "kubelet_pleg_relist_duration_seconds_count ") >= 1);
  CHECK(value_of(text, "kubelet_evictions{eviction_signal=\"nodefs.inodesFree\"} ") >= 1);
  CHECK(value_of(text, "kubelet_evictions{eviction_signal=\"pid.available\"} ") >= 0);
  CHECK(value_of(text, "coredns_dns_requests_total{proto=\"tcp\"} ") >= 1);
  CHECK(value_of(text, "coredns_dns_responses_total{rcode=\"NXDOMAIN\"} ") >= 1);
}

TEST_CASE("every controller of the registry has a metric of its number of objects") {
  console_test t;
  t.create_controller("web", 1);
  const auto text = t.get("/metrics").text();
  const auto objects = [&](const std::string& controller, const std::string& kind) {
    return value_of(
        text, "troupe_controller_objects{controller=\"" + controller + "\",kind=\"" + kind + "\"}");
  };
  for (const auto& type : actors::known_controllers())
    for (const auto& owner : type.owners)
      CHECK(objects(type.name, owner.kind->kind()) >= 0);
  CHECK(objects("replication", "ReplicationController") == 1);
  CHECK(objects("replication", "ReplicaSet") == 0);
}

TEST_CASE("every actor of a leading control plane says whether it runs") {
  console_test t;
  const auto running = [&](const std::string& actor) {
    return value_of(t.get("/metrics").text(),
                    "troupe_leading_actor_running{actor=\"" + actor + "\"}");
  };
  for (const auto& each : actors::leading_actors())
    CHECK(running(each.kind + "/" + each.name) >= 0);
  CHECK(rest_test::eventually([&] { return running("garbage-collector/garbage-collector") == 1; }));
  t.plane().stop_leading();
  CHECK(rest_test::eventually([&] { return running("garbage-collector/garbage-collector") == 0; }));
}

TEST_CASE("every line of the metrics is a comment or a sample, and no family comes twice") {
  console_test t;
  t.create_controller("web", 1);
  const std::regex sample{R"([a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [-+0-9.eNInaf]+)"};
  std::set<std::string> families;
  std::istringstream lines{t.get("/metrics").text()};
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    if (line.starts_with("# TYPE ")) {
      CHECK(families.insert(line.substr(7, line.find(' ', 7) - 7)).second);
    } else if (!line.starts_with("# HELP ")) {
      CHECK(std::regex_match(line, sample));
    }
  }
  CHECK(families.size() > 25);
}

TEST_CASE("values from clients never become labels, and no series appears twice") {
  console_test t;
  t.get("/api/v1/namespaces/default/pods/x/invented-by-a-client");
  t.get("/api/v1/invented-resources");
  t.get("/api/v1/invented-resources/x");
  t.get("/api/v1/namespaces/default/invented-resources");
  const auto text = t.get("/metrics").text();
  CHECK_THAT(text, !Contains("invented"));
  std::set<std::string> series;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK((line.starts_with('#') || series.insert(line.substr(0, line.rfind(' '))).second));
  }
}

TEST_CASE("totals of a kind stay when its actors end") {
  console_test t;
  const auto handled = [&] {
    return value_of(t.get("/metrics").text(),
                    "troupe_actor_messages_handled_total{kind=\"trace\"}");
  };
  {
    watching lines{t.where(), "/console/api/trace"};
    REQUIRE(lines.next());
  }
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=trace").size("") == 0; }));
  CHECK(rest_test::eventually([&] { return handled() >= 1; }));
}
