// Two control planes over one etcd: watches compared with etcd's own, control planes that are
// killed, and restarts with a copy of the state.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/etcd_client.hpp"
#include "benchmark/map_load.hpp"
#include "benchmark/marked_watch.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "etcd/etcd_server.hpp"

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

constexpr int warm_up = 100;  // updates at the beginning that do not count
constexpr int updates = 2'000;
constexpr int kills = 5;
constexpr double lease_s = 5;  // the default of --etcd-leader-lease
constexpr std::size_t clients = 8;
constexpr std::uint64_t many_objects = 100'000;
constexpr int restarts = 3;
constexpr double limit_s = 60;  // of each wait
constexpr std::chrono::milliseconds look_interval{4};
const test::http_client::fields json{{"content-type", "application/json"}};

// A control plane that can be ended and started again with its data.
class plane {
 public:
  plane(const std::string& program, const fs::path& folder, const test::etcd_server& etcd)
      : program_{program}, folder_{folder}, etcd_{etcd} {
    fs::create_directories(folder_);
  }

  // Returns when it serves.
  void start() {
    node_.emplace(program_, folder_.string(), 1,
                  std::vector<std::string>{"--node-name", folder_.filename().string(), "--store",
                                           "etcd", "--etcd-endpoints", etcd_.endpoint(),
                                           "--server-max-writes-in-flight", "300"});
  }
  void stop() { node_.reset(); }
  void kill() {
    node_->kill();
    node_.reset();
  }
  const node& running() const { return *node_; }
  fs::path data() const { return folder_ / "node"; }

 private:
  const std::string program_;
  const fs::path folder_;
  const test::etcd_server& etcd_;
  std::optional<node> node_;
};

bool leads(test::http_client& of) {
  return of.get("/metrics").body.find("\nleader_election_master_status{name=\"troupe\"} 1\n") !=
         std::string::npos;
}

void wait_until(const std::string& condition, const std::function<bool()>& done) {
  for (const auto start = clock::now(); !done();) {
    if (seconds_since(start) > limit_s) die("it did not come to this: " + condition);
    std::this_thread::sleep_for(look_interval);
  }
}

// Two control planes of one cluster; the first of the array leads.
struct plane_pair {
  plane_pair(const std::string& program, const fs::path& folder, const test::etcd_server& etcd)
      : all{{{program, folder / "first", etcd}, {program, folder / "second", etcd}}} {
    all[0].start();
    // One authority for both, as `troupe join --control-plane` provides.
    fs::create_directories(all[1].data());
    fs::copy(all[0].data() / "pki", all[1].data() / "pki", fs::copy_options::recursive);
    all[1].start();
    auto client = all[0].running().client();
    wait_until("the first control plane leads", [&] { return leads(client); });
  }

  std::array<plane, 2> all;
};

// When each update arrived for the first time. Any thread may call.
class arrivals {
 public:
  void note(std::int64_t update) {
    const auto at = now_us();
    const std::lock_guard lock{mutex_};
    if (update < 0 || update >= updates) return;
    auto& noted = at_us_[static_cast<std::size_t>(update)];
    if (noted != 0) return;
    noted = at;
    if (++count_ == updates) complete_.notify_all();
  }
  bool complete() {
    const std::lock_guard lock{mutex_};
    return count_ == updates;
  }
  // Returns the delay of each update after `earlier`, in milliseconds, when both are complete.
  std::vector<double> behind(arrivals& earlier) {
    wait();
    earlier.wait();
    std::vector<double> out;
    for (std::size_t i = warm_up; i < at_us_.size(); ++i)
      out.push_back(static_cast<double>(at_us_[i] - earlier.at_us_[i]) / 1e3);
    return out;
  }

 private:
  void wait() {
    std::unique_lock lock{mutex_};
    if (!complete_.wait_for(lock, std::chrono::duration<double>{limit_s},
                            [this] { return count_ == updates; }))
      die("a watch misses updates");
  }

  std::mutex mutex_;
  std::condition_variable complete_;
  std::array<std::int64_t, updates> at_us_{};
  int count_ = 0;
};

// The same updates, seen by a watch of etcd, by one of the control plane that writes them, and by
// one of another control plane.
void measure_watches(results& out, const plane_pair& planes, const test::etcd_server& etcd) {
  arrivals bare;
  std::array<arrivals, 2> seen;
  const etcd_client watch{etcd.endpoint(), [&](const persistence::log_change& change) {
                            if (change.value && change.key.ends_with("/configmaps/default/watched"))
                              bare.note(mark_in_stored(*change.value));
                          }};
  std::array<marked_watch, 2> watches{marked_watch{planes.all[0].running()},
                                      marked_watch{planes.all[1].running()}};
  std::array<pollfd, 2> ready{
      {{watches[0].descriptor(), POLLIN, 0}, {watches[1].descriptor(), POLLIN, 0}}};
  auto client = planes.all[0].running().client();
  // Joined before everything else is destroyed; refused writes show up as missing updates.
  const std::jthread writer{[&] {
    for (int i = 0; i < updates; ++i)
      send_mark(client, i, i == 0);
  }};
  while (!seen[0].complete() || !seen[1].complete()) {
    if (::poll(ready.data(), ready.size(), 30'000) <= 0) die("the watches hear nothing");
    for (std::size_t i = 0; i < watches.size(); ++i)
      if (ready[i].revents != 0) watches[i].take([&](std::int64_t mark) { seen[i].note(mark); });
  }
  const auto other = seen[1].behind(bare), same = seen[0].behind(bare);
  out.add("two control planes: an update in a watch of the other one, after etcd's own watch, p50",
          percentile(other, 50), "ms");
  out.add("… p99", percentile(other, 99), "ms", at_most(5));
  out.add("… in a watch of the same one, p50", percentile(same, 50), "ms");
  out.add("… of the same one, p99", percentile(same, 99), "ms", at_most(5));
}

std::string controller_path(const std::string& name) {
  return "/api/v1/namespaces/default/replicationcontrollers/" + name;
}

// Creates a controller without pods; the leading control plane sets its status.
void create_controller(test::http_client& to, const std::string& name) {
  const auto made = to.request(
      "POST", "/api/v1/namespaces/default/replicationcontrollers",
      fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"replicas":0,"selector":{{"a":"{0}"}},)"
                  R"("template":{{"metadata":{{"labels":{{"a":"{0}"}}}},"spec":{{"containers":[)"
                  R"({{"name":"c","image":"x"}}]}}}}}}}})",
                  name),
      json);
  if (made.status != 201) die(made.body);
}

// Kills the leading control plane; the roles then change. Returns the time until the other one
// leads, and until it has processed an object that was created meanwhile.
std::pair<double, double> kill_leader(std::array<plane*, 2>& roles, const std::string& name) {
  auto next = roles[1]->running().client();
  const auto killed = clock::now();
  roles[0]->kill();
  create_controller(next, name);
  wait_until("another control plane leads", [&] { return leads(next); });
  const auto led = seconds_since(killed);
  wait_until("its controllers work", [&] {
    const auto body = next.get(controller_path(name)).body;
    return body.find("\"observedGeneration\":1") != std::string::npos;
  });
  const auto worked = seconds_since(killed);
  roles[0]->start();
  std::swap(roles[0], roles[1]);
  return {led, worked};
}

bool create_map(test::http_client& to, const std::string& name) {
  return to.request("POST", maps_path, R"({"metadata":{"name":")" + name + R"("}})", json).status ==
         201;
}

// One client: writes through the first address until that fails, then through the second. Returns
// the time of the first success there; nothing at the limit.
std::optional<clock::time_point> write_through(const std::array<test::wire_options, 2>& to,
                                               const std::string& name, std::atomic<int>& writing) {
  int number = 0;
  const auto next_name = [&] { return fmt::format("{}-{}", name, number++); };
  const auto start = clock::now();
  try {
    test::http_client client{to[0]};
    for (bool first = true; create_map(client, next_name()); first = false) {
      if (first) ++writing;
      if (seconds_since(start) > limit_s) return std::nullopt;
    }
  } catch (const std::runtime_error&) {
  }
  for (const auto failed = clock::now(); seconds_since(failed) < limit_s;) {
    try {
      test::http_client client{to[1]};
      if (create_map(client, next_name())) return clock::now();
    } catch (const std::runtime_error&) {
    }
  }
  return std::nullopt;
}

// Kills the control plane that does not lead while clients write through it. Returns the time until
// the last of them has written through the other one.
double kill_follower(const std::array<plane*, 2>& roles, int round) {
  const std::array<test::wire_options, 2> to{roles[1]->running().address(),
                                             roles[0]->running().address()};
  std::atomic<int> writing{0};
  std::array<std::optional<clock::time_point>, clients> served;
  std::optional<clock::time_point> killed;
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < clients; ++i)
      all.emplace_back(
          [&, i] { served[i] = write_through(to, fmt::format("moved-{}-{}", round, i), writing); });
    wait_until("all clients write", [&] { return writing == static_cast<int>(clients); });
    killed = clock::now();
    roles[1]->kill();
  }
  double longest = 0;
  for (const auto& each : served) {
    if (!each || *each < *killed) die("a client could not write");
    longest = std::max(longest, std::chrono::duration<double>{*each - *killed}.count());
  }
  roles[1]->start();
  return longest;
}

void measure_kills(results& out, plane_pair& planes) {
  std::array<plane*, 2> roles{&planes.all[0], &planes.all[1]};  // the first leads
  double led = 0, worked = 0, moved = 0;
  for (int round = 0; round < kills; ++round) {
    const auto took = kill_leader(roles, fmt::format("after-{}", round));
    led = std::max(led, took.first);
    worked = std::max(worked, took.second);
  }
  for (int round = 0; round < kills; ++round)
    moved = std::max(moved, kill_follower(roles, round));
  out.add("the leading control plane is killed: until the other leads, most of 5", led, "s",
          at_most(lease_s + 1));
  out.add("… until its controllers have processed a new object, most of 5", worked, "s");
  out.add("the other one is killed: until its 8 clients have written elsewhere, most of 5", moved,
          "s", at_most(1));
}

double restart_s(plane& of, const std::function<void()>& end) {
  std::vector<double> took;
  for (int i = 0; i < restarts; ++i) {
    end();
    of.start();
    took.push_back(of.running().ready_ms() / 1e3);
  }
  return percentile(took, 50);
}

void measure_restarts(results& out, const std::string& program) {
  const test::etcd_server etcd;
  const scratch place;
  plane one{program, fs::path{place.path()} / "one", etcd};
  one.start();
  auto load = map_creates(one.running().load(), "m", 32, 8);
  load.duration = std::chrono::minutes{5};
  load.requests = many_objects;
  if (must_run(load).answers < many_objects) die("the objects were not created in five minutes");
  out.add("100,000 objects in etcd: from the start to ready, after SIGTERM, p50",
          restart_s(one, [&] { one.stop(); }), "s", at_most(2));
  out.add("… after SIGKILL, p50", restart_s(one, [&] { one.kill(); }), "s", at_most(2));
  out.add("… without a copy of the state, p50",
          restart_s(one,
                    [&] {
                      one.stop();
                      fs::remove_all(one.data() / "store");
                    }),
          "s");
  out.add("… memory", one.running().memory_mb(), "MB");
}

}  // namespace

void measure_planes(results& out, const bench_options& options) {
  if (const auto lacks = test::etcd_server::missing(); !lacks.empty()) {
    std::fprintf(stderr, "control planes are not measured: %s\n", lacks.c_str());
    return;
  }
  {
    const test::etcd_server etcd;
    const scratch place;
    plane_pair planes{options.program, place.path(), etcd};
    measure_watches(out, planes, etcd);
    measure_kills(out, planes);
  }
  measure_restarts(out, options.program);
}

}  // namespace troupe::bench
