#include <fmt/format.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "support/http2_frames.hpp"

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
const test::http_client::fields json{{"content-type", "application/json"}};

std::string map_json(const std::string& name, std::size_t bytes) {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"d":"{}"}}}})", name,
                     std::string(bytes, 'x'));
}

void post(test::http_client& client, const std::string& path, const std::string& body) {
  const auto answer = client.request("POST", path, body, json);
  if (answer.status != 201) die(fmt::format("POST {}: {}", path, answer.body));
}

// The token of a user who is not an administrator but may do everything.
std::string token_of(test::http_client& client, const std::string& name) {
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  post(client, accounts, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  post(client, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
       fmt::format(R"({{"metadata":{{"name":"{0}"}},"roleRef":{{"kind":"ClusterRole",
"apiGroup":"rbac.authorization.k8s.io","name":"cluster-admin"}},
"subjects":[{{"kind":"ServiceAccount","namespace":"default","name":"{0}"}}]}})",
                   name));
  const auto body = client.request("POST", accounts + "/" + name + "/token", "{}", json).body;
  const auto at = body.find("\"token\":\"");
  if (at == body.npos) die("no token: " + body);
  return body.substr(at + 9, body.find('"', at + 9) - at - 9);
}

test::wire_options without_certificate(const node& n) {
  auto options = n.address();
  options.certificate.clear();
  options.private_key.clear();
  return options;
}

// -- slow bodies ----------------------------------------------------------------------------------

// Connections of one user that send the head of a POST, then one byte a second of its body.
class slow_bodies {
 public:
  slow_bodies(const test::wire_options& to, const std::string& token, int count) {
    for (int i = 0; i < count; ++i) {
      wires_.push_back(std::make_unique<test::wire>(to));
      wires_.back()->send(
          fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n"
                      "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
                      maps, token));
    }
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any wake;
      std::unique_lock lock{mutex};
      while (!wake.wait_for(lock, stop, 1s, [] { return false; }) && !stop.stop_requested())
        for (const auto& each : wires_)
          each->send(" ");
    }};
  }

 private:
  std::vector<std::unique_ptr<test::wire>> wires_;
  std::jthread thread_;
};

void measure_slow_bodies(results& out, const bench_options& options) {
  constexpr int bodies = 215, pairs = 7;
  const scratch place;
  const node n{options.program, place.path(), 1};
  auto client = n.client();
  const auto slow = token_of(client, "slow");
  auto load = n.load();
  load.bearer_token = token_of(client, "other");
  load.certificate.clear();
  load.private_key.clear();
  load.connections = 8;
  load.duration = 2s;
  int run = 0;
  // Refused requests do not count as writes.
  const auto writes_per_second = [&] {
    ++run;
    load.next = [run](std::uint64_t i) {
      return load_request{"POST", maps, map_json(fmt::format("m{}-{}", run, i), 900),
                          "application/json"};
    };
    const auto done = run_load(load);
    if (!done) die(done.error());
    return static_cast<double>(done->answers - done->refused) / done->seconds;
  };
  writes_per_second();
  std::vector<double> alone, beside, part;
  for (int i = 0; i < pairs; ++i) {
    const auto with = [&] {
      const slow_bodies attack{without_certificate(n), slow, bodies};
      beside.push_back(writes_per_second());
    };
    // Alternates the order: the store grows, and the machine has other work.
    if (i % 2 == 0) with();
    alone.push_back(writes_per_second());
    if (i % 2 == 1) with();
    part.push_back(100 * beside.back() / alone.back());
  }
  out.add("writes of a user, 8 connections", percentile(alone, 50), "/s");
  out.add("… beside 215 bodies of a byte a second of another user", percentile(beside, 50), "/s");
  out.add("… of the rate without them, p50 of pairs", percentile(part, 50), "%", at_least(95));
}

// -- long lists -----------------------------------------------------------------------------------

double p99_of_gets_ms(test::http_client& client, std::chrono::milliseconds during) {
  std::vector<double> took;
  for (const auto until = clock::now() + during; clock::now() < until;) {
    const auto began = clock::now();
    if (client.get("/api/v1/namespaces/kube-public/configmaps/small").status != 200)
      die("a small get was refused");
    took.push_back(seconds_since(began) * 1e3);
  }
  return percentile(took, 99);
}

void measure_long_lists(results& out, const bench_options& options) {
  constexpr std::size_t lists = 40;
  const scratch place;
  const node n{options.program, place.path(), 1};
  auto client = n.client();
  post(client, "/api/v1/namespaces/kube-public/configmaps", map_json("small", 100));
  for (int i = 0; i < 1'000; ++i)
    post(client, maps, map_json(fmt::format("m{}", i), 8'000));
  const auto alone = p99_of_gets_ms(client, 2s);
  auto load = n.load();
  load.http2 = true;
  load.connections = lists;
  load.threads = 2;
  load.duration = 6s;
  load.next = [](std::uint64_t) { return load_request{"GET", maps, {}, {}}; };
  auto listing = std::async(std::launch::async, [&] { return must_run(load); });
  std::this_thread::sleep_for(1s);
  const auto beside = p99_of_gets_ms(client, 4s);
  const auto done = listing.get();
  out.add("a small get, p99", alone, "ms");
  out.add("… beside 40 parallel lists of 8 MB", beside, "ms", at_most(30));
  out.add("… lists meanwhile", done.per_second(), "/s");
}

// -- memory ---------------------------------------------------------------------------------------

// Waits until it has not grown by more than a megabyte for two seconds.
double settled_memory_mb(const node& n) {
  double last = n.memory_mb();
  auto since = clock::now();
  for (const auto start = since; seconds_since(start) < 30 && seconds_since(since) < 2;) {
    std::this_thread::sleep_for(100ms);
    if (const auto now = n.memory_mb(); std::abs(now - last) > 1) {
      last = now;
      since = clock::now();
    }
  }
  return n.memory_mb();
}

std::string event_json(std::uint64_t i) {
  return fmt::format(R"({{"metadata":{{"name":"pod-{0}.17c0ffee"}},"type":"Warning",
"reason":"FailedScheduling","message":"0/100 nodes are available: 60 Insufficient cpu, 40 node(s) had untolerated taint {{node.kubernetes.io/not-ready: }}.",
"involvedObject":{{"kind":"Pod","apiVersion":"v1","namespace":"default","name":"pod-{0}",
"uid":"c1f0d8b6-4e5b-4b69-9a35-{0:012}"}},"source":{{"component":"default-scheduler"}},
"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z","count":1}})",
                     i);
}

void measure_events(results& out, const bench_options& options) {
  constexpr std::uint64_t events = 100'000;
  const scratch place;
  const node n{options.program,
               place.path(),
               1,
               {"--store-max-events", "200000", "--store-max-event-bytes", "256Mi"}};
  auto client = n.client();
  const std::string path = "/api/v1/namespaces/default/events";
  const auto before = settled_memory_mb(n);
  auto load = n.load();
  load.connections = 32;
  load.requests = events;
  load.duration = 120s;
  load.next = [&](std::uint64_t i) {
    return load_request{"POST", path, event_json(i), "application/json"};
  };
  const auto made = must_run(load);
  const auto body = client.get(path + "?limit=1").body;
  const auto rest = body.find("\"remainingItemCount\":");
  const auto kept = rest == body.npos ? 0 : 1 + std::atoll(body.c_str() + rest + 21);
  if (kept < static_cast<long long>(events)) die(fmt::format("{} events were kept", kept));
  out.add("100,000 events of a client, 32 connections", made.per_second(), "/s");
  out.add("… all kept: memory that they add", settled_memory_mb(n) - before, "MB", at_most(90));
}

void measure_unread_traces(results& out, const bench_options& options) {
  constexpr int traces = 400;
  const scratch place;
  const node n{options.program, place.path(), 1};
  auto to = n.address();
  to.receive_buffer_bytes = 4'096;
  std::vector<std::unique_ptr<test::http_client>> clients;
  for (int i = 0; i < traces; ++i) {
    clients.push_back(std::make_unique<test::http_client>(to));
    if (clients.back()->get("/console/api/store").status != 200) die("the console does not answer");
  }
  auto load = n.load();
  load.connections = 8;
  load.next = [](std::uint64_t i) {
    const auto name = fmt::format("m{}", i % 100);
    return load_request{i < 100 ? "POST" : "PUT", i < 100 ? maps : fmt::format("{}/{}", maps, name),
                        map_json(name, 100), "application/json"};
  };
  must_run(load);  // memory of the updates themselves is allocated before the traces
  load.duration = 10s;
  auto updates = std::async(std::launch::async, [&] { return must_run(load); });
  std::this_thread::sleep_for(4s);
  const auto before = n.memory_mb();
  int accepted = 0;
  for (const auto& each : clients) {
    each->send_request("GET", "/console/api/trace");
    if (each->receive_head().status == 200) ++accepted;
  }
  double most = 0;
  for (const auto start = clock::now(); seconds_since(start) < 4;) {
    most = std::max(most, n.memory_mb() - before);
    std::this_thread::sleep_for(50ms);
  }
  updates.get();
  if (accepted == 0) die("no trace was accepted");
  out.add("400 traces of the console that nobody reads: memory that they add", most, "MB",
          at_most(32));
}

void measure_strangers(results& out, const bench_options& options) {
  // The first ones fill the buffers that all connections of a thread share.
  constexpr int first = 40, strangers = 400;
  const scratch place;
  const node n{options.program, place.path(), 1};
  auto to = without_certificate(n);
  to.protocols = {"h2"};
  to.receive_buffer_bytes = 4'096;
  const auto bytes = test::http2_frames::streams_with_closed_window(250, "/version");
  std::vector<std::unique_ptr<test::wire>> wires;
  const auto connect = [&](int count) {
    for (int i = 0; i < count; ++i) {
      wires.push_back(std::make_unique<test::wire>(to));
      wires.back()->send(bytes);
    }
  };
  connect(first);
  const auto before = settled_memory_mb(n);
  connect(strangers);
  const auto each_kib = (settled_memory_mb(n) - before) * 1024 / strangers;
  out.add("a stranger's connection, 250 streams of HTTP/2 with a closed window", each_kib, "KiB",
          at_most(64));
}

}  // namespace

void measure_limits(results& out, const bench_options& options) {
  measure_slow_bodies(out, options);
  measure_long_lists(out, options);
  measure_events(out, options);
  measure_unread_traces(out, options);
  measure_strangers(out, options);
}

}  // namespace troupe::bench
