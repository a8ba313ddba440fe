// Measures a whole node from outside and the store from inside, and prints one table (or JSON).
//
//   bench TROUPE-PROGRAM [--json]
//
// Everything runs on this machine and shares its cores with what is measured: read the ratios.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "bench/http_load.hpp"
#include "persistence/store.hpp"
#include "support/http_client.hpp"

extern char** environ;

namespace troupe::bench {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

// The table, in the order of measuring.
class results {
 public:
  void add(const std::string& what, double value, const std::string& unit,
           const std::string& note = {}) {
    std::fprintf(stderr, "%-58s %12.1f %s %s\n", what.c_str(), value, unit.c_str(), note.c_str());
    rows_.push_back({what, value, unit, note});
  }
  void print(bool json) const {
    if (json) std::puts("[");
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& r = rows_[i];
      if (json) {
        fmt::print("  {{\"what\": \"{}\", \"value\": {:.3f}, \"unit\": \"{}\"}}{}\n", r.what,
                   r.value, r.unit, i + 1 < rows_.size() ? "," : "");
      } else {
        fmt::print("| {} | {:.1f} {} | {} |\n", r.what, r.value, r.unit, r.note);
      }
    }
    if (json) std::puts("]");
  }

 private:
  struct row {
    std::string what;
    double value;
    std::string unit, note;
  };
  std::vector<row> rows_;
};

struct scratch {
  std::string path;
  scratch() {
    std::string name = "./troupe-bench-XXXXXX";
    path = std::filesystem::absolute(::mkdtemp(name.data())).string();
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(percent / 100 * static_cast<double>(values.size() - 1))];
}

// -- the disk -------------------------------------------------------------------------------------

double sync_p50_us(const std::string& directory) {
  const auto file = directory + "/raw";
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string kilobyte(1024, 'x');
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    const auto start = clock::now();
    if (::write(fd, kilobyte.data(), kilobyte.size()) < 0 || ::fdatasync(fd) != 0)
      die("cannot write " + file);
    times.push_back(seconds_since(start) * 1e6);
  }
  ::close(fd);
  return percentile(times, 50);
}

// -- the store ------------------------------------------------------------------------------------

std::unique_ptr<api::body> kilobyte_map(const std::string& name) {
  auto map = std::make_unique<api::core::v1::ConfigMap>();
  map->mutable_metadata()->set_name(name);
  map->mutable_metadata()->set_namespace_("default");
  (*map->mutable_data())["data"] = std::string(900, 'x');
  return map;
}

// Closed loop: each client submits its next transaction when the last one is on disk.
double transactions_per_second(persistence::store& store, int clients, std::chrono::seconds time) {
  const auto& kind = api::kind_of<api::core::v1::ConfigMap>();
  std::atomic<std::uint64_t> done{0};
  std::atomic<int> running{clients};
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::condition_variable all_ended;
  std::function<void(int, std::uint64_t)> submit = [&](int client, std::uint64_t n) {
    const auto name = fmt::format("c{}-{}", client, n % 1000);
    persistence::transaction what;
    what.mutations.push_back({kind.key("default", name), &kind, kilobyte_map(name)});
    store.submit(std::move(what), [&, client, n](persistence::outcome result) {
      if (!result) die(result.error().message);
      ++done;
      if (!over) return submit(client, n + 1);
      const std::lock_guard guard{mutex};
      if (--running == 0) all_ended.notify_all();
    });
  };
  const auto start = clock::now();
  for (int i = 0; i < clients; ++i)
    submit(i, 0);
  std::this_thread::sleep_for(time);
  const auto count = done.load();
  const auto took = seconds_since(start);
  over = true;
  std::unique_lock guard{mutex};
  all_ended.wait(guard, [&] { return running == 0; });
  return static_cast<double>(count) / took;
}

void measure_store(results& out, const std::string& directory) {
  persistence::store_options options;
  options.directory = directory + "/store";
  auto store = persistence::store::open(options);
  if (!store) die(store.error().message);
  for (const int clients : {1, 8, 64, 256})
    out.add(fmt::format("durable transactions in process, {} clients", clients),
            transactions_per_second(**store, clients, 2s), "/s", clients == 256 ? ">= 60000" : "");
}

// -- a node ---------------------------------------------------------------------------------------

std::string read_file(const std::string& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

class node {
 public:
  node(const std::string& program, const std::string& directory, int simulated) {
    data_ = directory + "/node";
    int out[2];
    if (::pipe(out) != 0) die("no pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    const auto log = directory + "/node.log";
    posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const auto count = std::to_string(simulated);
    const char* arguments[] = {program.c_str(),     "node",        "--data-dir", data_.c_str(),
                               "--listen",          "127.0.0.1:0", "--runtime",  "simulated",
                               "--simulated-nodes", count.c_str(), nullptr};
    started_ = clock::now();
    if (::posix_spawn(&pid_, program.c_str(), &files, nullptr, const_cast<char**>(arguments),
                      environ) != 0)
      die("cannot start " + program);
    ::close(out[1]);
    std::string line(256, '\0');
    const auto n = ::read(out[0], line.data(), line.size());
    ready_ms_ = seconds_since(started_) * 1e3;
    if (n <= 0) die("the node did not start: " + read_file(log));
    line.resize(static_cast<std::size_t>(n));
    const auto colon = line.find(':', line.find("//"));
    port_ = static_cast<std::uint16_t>(std::atoi(line.c_str() + colon + 1));
    ::close(out[0]);
  }
  ~node() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  double ready_ms() const { return ready_ms_; }
  clock::time_point started() const { return started_; }
  double memory_mb() const {
    std::ifstream in{fmt::format("/proc/{}/status", pid_)};
    for (std::string line; std::getline(in, line);)
      if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
    return 0;
  }
  test::http_client client() const {
    test::wire_options options;
    options.port = port_;
    options.certificate = read_file(data_ + "/pki/admin.crt");
    options.private_key = read_file(data_ + "/pki/admin.key");
    return test::http_client{options};
  }
  load_options load() const {
    load_options options;
    options.port = port_;
    options.certificate = read_file(data_ + "/pki/admin.crt");
    options.private_key = read_file(data_ + "/pki/admin.key");
    options.duration = 3s;
    return options;
  }

 private:
  std::string data_;
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
  clock::time_point started_;
  double ready_ms_ = 0;
};

constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
constexpr const char* controllers = "/api/v1/namespaces/default/replicationcontrollers";

std::string map_json(const std::string& name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"d":"{}"}}}})",
      name, std::string(900, 'x'));
}

std::string controller_json(const std::string& name, int replicas) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ReplicationController","metadata":{{"name":"{0}"}},"spec":{{)"
      R"("replicas":{1},"selector":{{"app":"{0}"}},"template":{{"metadata":{{"labels":{{"app":"{0}"}}}},)"
      R"("spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}}})",
      name, replicas);
}

load_result must_run(const load_options& options) {
  auto result = run_load(options);
  if (!result) die(result.error());
  if (result->refused > result->answers / 100)
    die(fmt::format("{} of {} requests were refused", result->refused, result->answers));
  return std::move(*result);
}

void measure_http(results& out, const node& n, double sync_us) {
  static std::atomic<int> round{0};
  for (const std::size_t connections : {1, 8, 32}) {
    auto load = n.load();
    load.connections = connections;
    const int r = ++round;
    load.next = [r](std::uint64_t i) {
      return load_request{"POST", maps, map_json(fmt::format("m{}-{}", r, i)), "application/json"};
    };
    const auto created = must_run(load);
    out.add(fmt::format("HTTP creates over TLS, {} connections", connections), created.per_second(),
            "/s", connections == 32 ? ">= 8000" : "");
    if (connections == 1)
      out.add("… one durable write, p50, in fdatasyncs", created.percentile(50) / sync_us, "x",
              "<= 3");
    load.next = [r](std::uint64_t i) {
      return load_request{"GET", fmt::format("{}/m{}-{}", maps, r, i % 100), {}, {}};
    };
    out.add(fmt::format("HTTP gets over TLS, {} connections", connections),
            must_run(load).per_second(), "/s", connections == 32 ? ">= 30000" : "");
  }
}

// Until the controller's readyReplicas are so many; the seconds that took.
double wait_ready(test::http_client& client, const std::string& name, int wanted) {
  const auto start = clock::now();
  const auto field = fmt::format("\"readyReplicas\":{}", wanted);
  while (seconds_since(start) < 120) {
    const auto body = client.get(fmt::format("{}/{}", controllers, name)).body;
    const auto at = body.find(field);
    const bool there = at != body.npos && !std::isdigit(body[at + field.size()]);
    if (there || (wanted == 0 && body.find("readyReplicas") == body.npos &&
                  body.find("\"replicas\":0") != body.npos))
      return seconds_since(start);
    std::this_thread::sleep_for(2ms);
  }
  die("the pods of " + name + " did not come");
}

void scale(test::http_client& client, const std::string& name, int replicas) {
  const auto answer = client.request("PATCH", fmt::format("{}/{}/scale", controllers, name),
                                     fmt::format("{{\"spec\":{{\"replicas\":{}}}}}", replicas),
                                     {{"content-type", "application/merge-patch+json"}});
  if (answer.status != 200) die("cannot scale: " + answer.body);
}

void measure_pods(results& out, const node& n) {
  auto client = n.client();
  client.request("POST", controllers, controller_json("one", 1000),
                 {{"content-type", "application/json"}});
  out.add("one RC 0 to 1,000 pods Running", wait_ready(client, "one", 1000), "s", "<= 0.5");
  auto load = n.load();
  load.connections = 8;
  load.next = [](std::uint64_t) {
    return load_request{"GET", "/api/v1/namespaces/default/pods", {}, {}};
  };
  out.add("list of 1,000 pods, 8 connections", must_run(load).per_second(), "/s", ">= 200");
  scale(client, "one", 0);
  wait_ready(client, "one", 0);

  client.request("POST", controllers, controller_json("big", 10'000),
                 {{"content-type", "application/json"}});
  out.add("one RC 0 to 10,000 pods Running", wait_ready(client, "big", 10'000), "s", "<= 5");
  out.add("memory with 10,000 pods", n.memory_mb(), "MB");
  scale(client, "big", 0);
  out.add("… and back to 0", wait_ready(client, "big", 0), "s");

  const auto start = clock::now();
  for (int i = 0; i < 50; ++i)
    client.request("POST", controllers, controller_json(fmt::format("of50-{}", i), 20),
                   {{"content-type", "application/json"}});
  for (int i = 0; i < 50; ++i)
    wait_ready(client, fmt::format("of50-{}", i), 20);
  out.add("50 RCs of 20 pods", seconds_since(start), "s");
}

int run(const std::string& program, bool json) {
  spdlog::set_level(spdlog::level::off);  // standard output is the table's
  results out;
  scratch place;
  const auto sync_us = sync_p50_us(place.path);
  out.add("fdatasync of 1 KB, p50", sync_us, "us");
  measure_store(out, place.path);
  {
    scratch fresh;
    const node n{program, fresh.path, 1};
    out.add("cold start to ready", n.ready_ms(), "ms", "<= 150");
    auto client = n.client();
    client.request("POST", controllers, controller_json("first", 1),
                   {{"content-type", "application/json"}});
    wait_ready(client, "first", 1);
    out.add("… to the first pod Running", seconds_since(n.started()) * 1e3, "ms", "<= 300");
    std::this_thread::sleep_for(2s);
    out.add("idle memory", n.memory_mb(), "MB", "<= 40");
    measure_http(out, n, sync_us);
  }
  scratch large;
  const node n{program, large.path, 1000};
  std::this_thread::sleep_for(3s);  // a thousand nodes register
  measure_pods(out, n);
  out.print(json);
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  const bool json = argc > 2 && std::strcmp(argv[2], "--json") == 0;
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench TROUPE-PROGRAM [--json]\n");
    return 2;
  }
  return troupe::bench::run(argv[1], json);
}
