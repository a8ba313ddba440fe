// Two control planes over one etcd: one shows the acknowledged writes of the other and their
// causes, and when the leader is killed the other one leads.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "build_paths.hpp"
#include "etcd/etcd_server.hpp"
#include "persistence/etcd/members.hpp"
#include "persistence/etcd/old_state.hpp"
#include "persistence/replica/blocking_log.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace persistence = troupe::persistence;

namespace {

const http_client::fields json{{"content-type", "application/json"}};
const http_client::fields merge{{"content-type", "application/merge-patch+json"}};
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";

constexpr std::chrono::seconds lease{5};  // the default of --etcd-leader-lease

std::unique_ptr<node> start(const fs::path& data, const std::string& name, const etcd_server& etcd,
                            const std::vector<std::string>& more = {}) {
  std::vector<std::string> flags{
      "--node-name",   name,          "--store", "etcd", "--etcd-endpoints",
      etcd.endpoint(), "--log-level", "info"};
  flags.insert(flags.end(), more.begin(), more.end());
  return std::make_unique<node>(data, flags);
}

// Two control planes of one cluster, of which the first one leads.
struct plane_pair {
  explicit plane_pair(const std::vector<std::string>& flags_of_second = {}) {
    first = start(first_data, "first", etcd);
    // One authority for both, as `troupe join --control-plane` would provide. The files of the
    // front proxy are written beside the start.
    REQUIRE(eventually([this] { return fs::exists(first_data / "pki/front-proxy-client.crt"); }));
    fs::create_directories(second_data);
    fs::copy(first_data / "pki", second_data / "pki", fs::copy_options::recursive);
    second = start(second_data, "second", etcd, flags_of_second);
  }

  const scratch_folder folder;
  const etcd_server etcd;
  const fs::path first_data = folder.path() / "first", second_data = folder.path() / "second";
  std::unique_ptr<node> first, second;
};

std::string set_json(const std::string& name) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"}},"spec":{{"replicas":3,"selector":{{"matchLabels":{{"a":"{0}"}}}},)"
      R"("template":{{"metadata":{{"labels":{{"a":"{0}"}}}},"spec":{{"containers":[)"
      R"({{"name":"c","image":"none","command":["sleep","1000"]}}]}}}}}}}})",
      name);
}

// The token of a page for the next one, escaped for a query.
std::string token_of(const std::string& page) {
  const std::string label = "\"continue\":\"";
  const auto begin = page.find(label);
  if (begin == page.npos) return {};
  std::string escaped;
  for (auto at = begin + label.size(); page[at] != '"'; ++at)
    escaped += page[at] == '+' ? "%2B" : std::string{page[at]};
  return escaped;
}

bool has_replicas(http_client& of, const std::string& name, int count) {
  const auto found = of.request("GET", sets + "/" + name);
  return found.body.find(fmt::format("\"replicas\":{},", count)) != std::string::npos &&
         found.body.find("\"fullyLabeledReplicas\":3") != std::string::npos;
}

// The answer of `console -c`, as JSON.
std::string console(const fs::path& data, const std::string& command) {
  const auto shown = shell(fmt::format("{}/troupe console --data-dir {} --output json -c '{}' 2>&1",
                                       TROUPE_BINARY_DIR, data.string(), command));
  INFO(command << "\n" << shown.output);
  REQUIRE(shown.code == 0);
  return shown.output;
}

// The value of a metric, by its name and labels; -1 if there is none.
double metric(http_client& of, const std::string& name) {
  const auto all = of.request("GET", "/metrics").body;
  const auto at = all.find("\n" + name + " ");
  return at == all.npos ? -1 : std::stod(all.substr(at + name.size() + 2));
}

bool leads(http_client& plane) {
  return metric(plane, R"(leader_election_master_status{name="troupe"})") == 1;
}

// A key that etcd deletes when its lease ends, which is not renewed.
class leased_key {
 public:
  leased_key(const etcd_server& etcd, std::chrono::seconds time_to_live)
      : log_{opened(etcd)}, asked_{*log_, "etcd", 60s} {
    const auto given = asked_.wait_for<persistence::revision>([&](auto take) {
      log_->grant(time_to_live, [take](const auto& lease) {
        take(lease ? persistence::expected<persistence::revision>{*lease}
                   : persistence::fail(lease.error()));
      });
    });
    REQUIRE(given);
    REQUIRE(asked_.submit({{}, {{name, "", static_cast<persistence::lease_id>(*given)}}}));
  }
  bool has_ended() {
    const auto found = asked_.read(name);
    REQUIRE(found);
    return !*found;
  }

 private:
  static constexpr const char* name = "/lease-of-a-test";

  static std::unique_ptr<persistence::shared_log> opened(const etcd_server& etcd) {
    auto made = persistence::open_etcd({.endpoints = {etcd.endpoint()}});
    REQUIRE(made);
    return std::move(*made);
  }

  const std::unique_ptr<persistence::shared_log> log_;
  persistence::blocking_log asked_;
};

using test_clock = std::chrono::steady_clock;

// Checks that the control plane leads within the time of a lease and a second. This machine may be
// slow: a lease that begins now is measured, and the longest pause between two looks is added.
void check_takeover(http_client& next, const etcd_server& etcd, test_clock::time_point killed) {
  leased_key key{etcd, lease};
  const auto begun = test_clock::now();
  std::optional<test_clock::time_point> led, ended;
  test_clock::duration pause{0};
  auto looked = begun;
  REQUIRE(eventually(
      [&] {
        if (!led && leads(next)) led = test_clock::now();
        if (!ended && key.has_ended()) ended = test_clock::now();
        const auto now = test_clock::now();
        pause = std::max(pause, now - std::exchange(looked, now));
        return led && ended;
      },
      60s));
  const auto measured = std::max<test_clock::duration>(lease, *ended - begun);
  INFO("led after " << (*led - killed) / 1ms << " ms, lease " << measured / 1ms << " ms, pause "
                    << pause / 1ms << " ms");
  CHECK(*led - killed < measured + 1s + pause);
}

}  // namespace

TEST_CASE("two control planes over etcd: any may be killed, and nothing is lost", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  plane_pair planes;
  http_client to_first{planes.first->where()}, to_second{planes.second->where()};

  REQUIRE(to_first.request("POST", sets, set_json("early"), json).status == 201);
  CHECK(eventually([&] { return has_replicas(to_second, "early", 3); }));
  int written = 0;
  for (int i = 0; i < 100; ++i) {
    auto& through = i % 2 == 0 ? to_first : to_second;
    auto& other = i % 2 == 0 ? to_second : to_first;
    const auto name = fmt::format("map-{}", i);
    written +=
        through.request("POST", maps, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name), json)
            .status == 201;
    // Neither a read without a revision nor a refusal may use an old state.
    if (i % 4 < 2)
      CHECK(other.request("GET", maps + "/" + name).status == 200);
    else
      CHECK(other.request("PATCH", maps + "/" + name, R"({"data":{"a":"b"}})", merge).status ==
            200);
  }
  CHECK(written == 100);

  // A list is continued at the other one, with its own state.
  const auto token = token_of(to_first.request("GET", maps + "?limit=90").body);
  REQUIRE_FALSE(token.empty());
  CHECK(to_first.request("DELETE", maps + "/map-99").status == 200);
  const auto rest = to_second.request("GET", maps + "?continue=" + token);
  CHECK(rest.status == 200);
  CHECK(rest.body.find("\"map-99\"") != std::string::npos);
  CHECK(to_first.request("POST", maps, R"({"metadata":{"name":"map-99"}})", json).status == 201);

  planes.first->signal(SIGKILL);
  REQUIRE(planes.first->wait(std::chrono::seconds{60}));
  REQUIRE(to_second.request("POST", sets, set_json("late"), json).status == 201);
  CHECK(eventually([&] { return has_replicas(to_second, "late", 3); }));
  const auto all = to_second.request("GET", maps);
  for (int i = 0; i < 100; ++i)
    CHECK(all.body.find(fmt::format("\"map-{}\"", i)) != std::string::npos);

  // The killed one restarts, and follows.
  planes.first = start(planes.first_data, "first", planes.etcd);
  http_client again{planes.first->where()};
  CHECK(again.request("GET", sets + "/late").status == 200);
}

TEST_CASE("every control plane shows the causes of all changes, who leads, and why that changed",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  plane_pair planes;
  http_client to_first{planes.first->where()}, to_second{planes.second->where()};
  REQUIRE(to_first.request("POST", sets, set_json("early"), json).status == 201);
  const std::string early = "replicasets/default/early";
  // The causes of the same changes, also those of the first one's controllers.
  std::string history;
  REQUIRE(eventually(
      [&] {
        history = console(planes.second_data, "history " + early);
        const auto last = history.rfind("status.availableReplicas");
        return last != history.npos && history.find(R"("to":"3")", last) != history.npos;
      },
      60s));
  CHECK(history == console(planes.first_data, "history " + early));
  CHECK_THAT(history, Contains(R"("by":"admin","request":")") &&
                          Contains(R"("by":"replicaset-controller/default/early","request":")"));
  const std::string label = R"("request":")";
  const auto begin = history.find(label) + label.size();
  const auto request = history.substr(begin, history.find('"', begin) - begin);
  CHECK_THAT(console(planes.second_data, "why " + early),
             Contains(early + R"( was created","by":"admin","because":"request )" + request));

  CHECK_THAT(console(planes.first_data, "cluster"),
             Contains(R"("leader":"first","leadsHere":true)"));
  CHECK_THAT(
      console(planes.second_data, "cluster"),
      Contains(R"("leader":"first","leadsHere":false)") && Contains(R"("leaderChanges":1,)"));
  CHECK(leads(to_first));
  CHECK_FALSE(leads(to_second));
  const auto since = metric(to_second, "troupe_leader_since_seconds");
  CHECK(since > 0);
  CHECK(since == metric(to_first, "troupe_leader_since_seconds"));

  const auto killed = test_clock::now();
  planes.first->signal(SIGKILL);
  check_takeover(to_second, planes.etcd, killed);
  CHECK_THAT(
      console(planes.second_data, "cluster"),
      Contains(R"("leader":"second","leadsHere":true,"term":)") &&
          Contains(R"("leaderChanges":2,"lastLeader":"first was silent longer than its lease")"));
  CHECK(metric(to_second, "troupe_leader_changes_total") == 2);
  CHECK(metric(to_second, R"(troupe_leader_info{holder="second"})") == 1);
  CHECK(metric(to_second, R"(troupe_leader_terms_ended_total{reason="lease-expired"})") == 1);
  CHECK(metric(to_second, "troupe_leader_since_seconds") > since);
}

TEST_CASE("a quota is exact when several control planes create objects", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  constexpr int limit = 60, attempts = 30;
  const plane_pair planes;
  http_client client{planes.first->where()};
  REQUIRE(client.request("POST", "/api/v1/namespaces", R"({"metadata":{"name":"small"}})", json)
              .status == 201);
  const std::string small = "/api/v1/namespaces/small/";
  REQUIRE(client
              .request("POST", small + "resourcequotas",
                       fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":)"
                                   R"({{"count/secrets":"{}"}}}}}})",
                                   limit),
                       json)
              .status == 201);
  // The second one has seen the quota.
  CHECK(http_client{planes.second->where()}.request("GET", small + "resourcequotas/q").status ==
        200);
  std::atomic<int> created{0}, refused{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      http_client own{(i % 2 == 0 ? planes.first : planes.second)->where()};
      for (int k = 0; k < attempts; ++k) {
        const auto answer =
            own.request("POST", small + "secrets",
                        fmt::format(R"({{"metadata":{{"name":"s-{}-{}"}}}})", i, k), json);
        created += answer.status == 201;
        refused += answer.status == 403;
      }
    });
  for (auto& each : clients)
    each.join();
  CHECK(created == limit);
  CHECK(refused == 4 * attempts - limit);
  const auto all = client.request("GET", small + "secrets").body;
  int found = 0;
  for (auto at = all.find("\"s-"); at != std::string::npos; at = all.find("\"s-", at + 1))
    ++found;
  CHECK(found == limit);

  // Objects that are deleted through one of them make room at the other at once.
  REQUIRE(client.request("DELETE", small + "secrets?limit=500").status == 200);
  CHECK(http_client{planes.second->where()}
            .request("POST", small + "secrets", R"({"metadata":{"name":"after"}})", json)
            .status == 201);
}

TEST_CASE("without etcd old states are read, other requests time out, and the node recovers",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  // Longer than the default.
  const auto only = start(folder.path() / "only", "only", etcd, {"--etcd-answer-timeout", "9s"});
  auto where = only->where();
  where.timeout = 60s;
  http_client client{where};
  REQUIRE(client.request("POST", maps, R"({"metadata":{"name":"before"}})", json).status == 201);
  CHECK(client.request("GET", "/readyz").status == 200);

  etcd.signal(SIGSTOP);
  const auto asked = std::chrono::steady_clock::now();
  const auto lost = client.request("POST", maps, R"({"metadata":{"name":"lost"}})", json);
  CHECK(lost.status == 504);
  CHECK(std::chrono::steady_clock::now() - asked >= 9s);
  // With retry-after a client would repeat the request by itself, and get "already exists".
  CHECK_FALSE(lost.headers.contains("retry-after"));
  CHECK(client.request("GET", maps + "/before?resourceVersion=0").status == 200);
  CHECK(client.request("GET", maps + "/before").status == 504);
  CHECK(eventually([&] { return client.request("GET", "/readyz").status == 500; }));
  CHECK(client.request("GET", "/livez").status == 200);

  etcd.signal(SIGCONT);
  CHECK(eventually([&] { return client.request("GET", "/readyz").status == 200; }));
  CHECK(eventually([&] {
    return client.request("POST", maps, R"({"metadata":{"name":"after"}})", json).status == 201;
  }));
}

TEST_CASE("a read of the newest state waits while etcd is killed and started again", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  etcd_server etcd;
  const auto only = start(folder.path() / "only", "only", etcd, {"--etcd-answer-timeout", "30s"});
  auto where = only->where();
  where.timeout = 60s;
  http_client client{where}, other{where};
  REQUIRE(client.request("POST", maps, R"({"metadata":{"name":"before"}})", json).status == 201);
  std::atomic<int> reads{0};
  const auto exceed = [&](int limit) {
    return eventually(
        [&] { return other.request("GET", "/livez").status == 200 && reads > limit; });
  };
  std::vector<int> failed;
  {
    const std::jthread reader{[&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++reads)
        if (const auto status = client.request("GET", maps + "/before").status; status != 200)
          failed.push_back(status);
    }};
    REQUIRE(exceed(10));
    etcd.restart();
    CHECK(exceed(reads + 10));
  }
  CHECK(failed.empty());
}

TEST_CASE("the client of etcd is loaded only by a node that uses etcd", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  const auto maps_of = [](const node& of) {
    return read_file(fmt::format("/proc/{}/maps", of.id()));
  };
  const node alone{folder.path() / "alone", {"--node-name", "alone"}};
  CHECK_THAT(maps_of(alone), Contains("/troupe\n") && !Contains("/etcd.so"));
  const auto over_etcd = start(folder.path() / "over-etcd", "over-etcd", etcd);
  CHECK_THAT(maps_of(*over_etcd), Contains("/lib/troupe/etcd.so"));
}

TEST_CASE("a starting control plane warns of other settings, and of an etcd with a known fault",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const plane_pair planes{{"--minions-grace-period", "50s"}};
  const auto log_of = [](const fs::path& data) { return read_file(data.string() + ".log"); };
  CHECK(eventually([&] {
    return log_of(planes.second_data)
               .find(
                   "--minions-grace-period is 50s here, and 40s at first, which has started "
                   "last") != std::string::npos;
  }));
  const auto members = persistence::open_etcd_members({.endpoints = {planes.etcd.endpoint()}});
  REQUIRE(members);
  const auto status = (*members)->status(planes.etcd.endpoint());
  REQUIRE(status);
  const auto first_log = log_of(planes.first_data);
  CHECK_THAT(first_log, !Contains("which has started last"));
  CHECK((first_log.find("may answer a read with an old state") != std::string::npos) ==
        persistence::may_read_old_state(status->version));
}
