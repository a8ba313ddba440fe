#include <fmt/format.h>

#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr const char* pods = "/api/v1/namespaces/default/pods";

struct owner {
  const char* kind;
  const char* api_version;
  const char* path;
  const char* more = "";  // for the spec
  bool by_labels = true;  // the selector is a LabelSelector
};
constexpr owner controller{"ReplicationController", "v1",
                           "/api/v1/namespaces/default/replicationcontrollers", "", false};
constexpr owner replica_set{"ReplicaSet", "apps/v1",
                            "/apis/apps/v1/namespaces/default/replicasets"};
constexpr owner stateful_set{"StatefulSet", "apps/v1",
                             "/apis/apps/v1/namespaces/default/statefulsets",
                             R"("serviceName":"s","podManagementPolicy":"Parallel",)"};
constexpr owner daemon_set{"DaemonSet", "apps/v1", "/apis/apps/v1/namespaces/default/daemonsets"};

constexpr owner job{"Job", "batch/v1", "/apis/batch/v1/namespaces/default/jobs"};

class cluster {
 public:
  cluster(const node& n) : node_{n}, client_{n.client()} {}

  // With `replicas` below 0 the kind has no such field.
  void create(const owner& controller, const std::string& name, int replicas) {
    const auto labels = fmt::format(R"({{"app":"{}"}})", name);
    const auto selector =
        controller.by_labels ? fmt::format(R"({{"matchLabels":{}}})", labels) : labels;
    const auto size = replicas < 0 ? std::string{} : fmt::format(R"("replicas":{},)", replicas);
    const auto body = fmt::format(
        R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}"}},"spec":{{{}{}"selector":{},)"
        R"("template":{{"metadata":{{"labels":{}}},"spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}}})",
        controller.api_version, controller.kind, name, size, controller.more, selector, labels);
    expect(client_.request("POST", controller.path, body, {{"content-type", "application/json"}}),
           201);
  }

  void create_job(const std::string& name, int pods_of_job) {
    const auto body = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{}"}},"spec":{{"completions":{},"parallelism":{},)"
        R"("template":{{"metadata":{{"annotations":{{"simulation.troupe.dev/run-time":"0s"}}}},)"
        R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"x"}}]}}}}}}}})",
        name, pods_of_job, pods_of_job);
    expect(client_.request("POST", job.path, body, {{"content-type", "application/json"}}), 201);
  }

  void scale(const std::string& name, int replicas) {
    expect(client_.request("PATCH", fmt::format("{}/{}/scale", controller.path, name),
                           fmt::format(R"({{"spec":{{"replicas":{}}}}})", replicas),
                           {{"content-type", "application/merge-patch+json"}}),
           200);
  }

  void remove(const owner& controller, const std::string& name) {
    expect(client_.request(
               "DELETE", fmt::format("{}/{}?propagationPolicy=Background", controller.path, name)),
           200);
  }

  // Whether a field of the status has this value; the status leaves out zeros.
  bool has(const owner& controller, const std::string& name, const char* field, int value) {
    const auto body = client_.get(fmt::format("{}/{}", controller.path, name)).body;
    const auto text = fmt::format("\"{}\":", field);
    const auto at = body.rfind(text);
    return (at == body.npos ? 0 : std::atoi(body.c_str() + at + text.size())) == value;
  }

  bool none(const char* selector) {
    return client_.get(fmt::format("{}?limit=1{}", pods, selector)).body.find("\"items\":[]") !=
           std::string::npos;
  }

  void wait(const std::string& condition, const std::function<bool()>& done) {
    for (const auto start = clock::now(); !done();) {
      if (seconds_since(start) > 120) die("it did not come to this: " + condition);
      std::this_thread::sleep_for(std::chrono::milliseconds{4});
    }
  }

  const node& where() const noexcept { return node_; }

 private:
  static void expect(const test::http_answer& answer, int status) {
    if (answer.status != status) die(answer.body);
  }

  const node& node_;
  test::http_client client_;
};

struct goals {
  std::optional<bar> running, rate;
};

void up_and_down(results& out, cluster& on, int count, const goals& wanted) {
  const auto name = fmt::format("of-{}", count);
  const auto number = count == 1'000 ? "1,000" : "10,000";
  auto start = clock::now();
  on.create(controller, name, count);
  on.wait("all bound", [&] {
    return on.has(controller, name, "replicas", count) &&
           on.none("&fieldSelector=spec.nodeName%3D");
  });
  out.add(fmt::format("one RC 0 to {} pods: all bound", number), seconds_since(start), "s");
  on.wait("all running", [&] { return on.has(controller, name, "readyReplicas", count); });
  const auto took = seconds_since(start);
  out.add("… all Running", took, "s", wanted.running);
  out.add("… pods a second", count / took, "/s", wanted.rate);
  if (count == 10'000) out.add("memory with 10,000 pods", on.where().memory_mb(), "MB");
  if (count == 1'000) {
    auto load = on.where().load();
    load.connections = 8;
    load.next = [](std::uint64_t) { return load_request{"GET", pods, {}, {}}; };
    out.add("list of 1,000 pods, 8 connections", must_run(load).per_second(), "/s", at_least(200));
  }
  start = clock::now();
  on.scale(name, 0);
  on.wait("all gone", [&] { return on.none(""); });
  out.add(fmt::format("one RC {} pods to 0: all gone", number), seconds_since(start), "s");
  on.remove(controller, name);
}

void many_controllers(results& out, cluster& on, int count, int each, std::optional<bar> rate) {
  const auto name = [&](int i) { return fmt::format("of{}-{}", count, i); };
  const auto start = clock::now();
  for (int i = 0; i < count; ++i)
    on.create(controller, name(i), each);
  for (int i = 0; i < count; ++i)
    on.wait("all running", [&] { return on.has(controller, name(i), "readyReplicas", each); });
  const auto took = seconds_since(start);
  out.add(fmt::format("{} RCs of {} pods, created one by one: all Running", count, each), took,
          "s");
  out.add("… pods a second", count * each / took, "/s", rate);
  for (int i = 0; i < count; ++i)
    on.remove(controller, name(i));
  on.wait("all gone", [&] { return on.none(""); });
}

// Jobs of simulated pods that end as soon as they run.
void many_jobs(results& out, cluster& on, int count, int each) {
  const auto name = [&](int i) { return fmt::format("job-{}", i); };
  const auto start = clock::now();
  for (int i = 0; i < count; ++i)
    on.create_job(name(i), each);
  for (int i = 0; i < count; ++i)
    on.wait("all complete", [&] { return on.has(job, name(i), "succeeded", each); });
  const auto took = seconds_since(start);
  out.add(fmt::format("{} Jobs of {} pods, created one by one: all Complete", count, each), took,
          "s");
  out.add("… pods a second", count * each / took, "/s", at_least(2'000));
  for (int i = 0; i < count; ++i)
    on.remove(job, name(i));
  on.wait("all gone", [&] { return on.none(""); });
}

void owner_deleted(results& out, cluster& on) {
  on.create(replica_set, "big", 10'000);
  on.wait("all running", [&] { return on.has(replica_set, "big", "readyReplicas", 10'000); });
  const auto start = clock::now();
  on.remove(replica_set, "big");
  on.wait("all gone", [&] { return on.none(""); });
  out.add("a ReplicaSet of 10,000 pods deleted: all gone", seconds_since(start), "s", at_most(3));
}

void parallel_set(results& out, cluster& on) {
  constexpr int count = 1'000;
  const auto start = clock::now();
  on.create(stateful_set, "db", count);
  on.wait("all running", [&] { return on.has(stateful_set, "db", "readyReplicas", count); });
  out.add("a StatefulSet of 1,000 parallel pods: all Running", seconds_since(start), "s",
          at_most(2));
  on.remove(stateful_set, "db");
  on.wait("all gone", [&] { return on.none(""); });
}

void daemons(results& out, cluster& on, int nodes) {
  const auto start = clock::now();
  on.create(daemon_set, "agent", -1);
  on.wait("all running", [&] { return on.has(daemon_set, "agent", "numberReady", nodes); });
  out.add("a DaemonSet on 5,000 nodes: all Running", seconds_since(start), "s", at_most(3));
}

}  // namespace

void measure_pods(results& out, const bench_options& options) {
  {
    const scratch place;
    const node n{options.program, place.path(), 100};
    n.wait_for_nodes();
    cluster on{n};
    up_and_down(out, on, 1'000, {at_most(0.5), {}});
    parallel_set(out, on);
  }
  const scratch place;
  const node n{options.program, place.path(), 1'000};
  n.wait_for_nodes();
  cluster on{n};
  up_and_down(out, on, 10'000, {at_most(5), at_least(4'000)});
  owner_deleted(out, on);
  many_controllers(out, on, 50, 20, {});
  many_controllers(out, on, 1'000, 10, at_least(3'000));
  many_jobs(out, on, 1'000, 10);
}

namespace {

constexpr int many_nodes = 5'000;

}  // namespace

void measure_idle_nodes(results& out, const bench_options& options) {
  constexpr double seconds = 20;
  const scratch place;
  const node n{options.program, place.path(), many_nodes};
  n.wait_for_nodes();
  // Waits until each node has created its lease and renewed it once.
  std::this_thread::sleep_for(std::chrono::seconds{12});
  const auto start = clock::now();
  const auto before = n.processor_s();
  std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
  out.add("5,000 idle nodes: of one core", 100 * (n.processor_s() - before) / seconds_since(start),
          "%", at_most(8));
  out.add("memory with 5,000 idle nodes", n.memory_mb(), "MB");
  cluster on{n};
  daemons(out, on, many_nodes);
}

void measure_many_pods(results& out, const bench_options& options) {
  constexpr int controllers = 10, each = 10'000;
  const scratch place;
  const node n{options.program, place.path(), many_nodes};
  n.wait_for_nodes();
  cluster on{n};
  const auto name = [](int i) { return fmt::format("part-{}", i); };
  const auto before = n.processor_s();
  const auto start = clock::now();
  for (int i = 0; i < controllers; ++i)
    on.create(controller, name(i), each);
  for (int i = 0; i < controllers; ++i)
    on.wait("all running", [&] { return on.has(controller, name(i), "readyReplicas", each); });
  const auto took = seconds_since(start);
  constexpr int pods_made = controllers * each;
  out.add("100,000 pods on 5,000 nodes: processor time of a pod",
          (n.processor_s() - before) / pods_made * 1e3, "ms", at_most(0.2));
  out.add("… pods a second", pods_made / took, "/s");
  out.add("… memory", n.memory_mb(), "MB");
}

namespace {

// Processor time of a node to bring one controller's pods from none to Running.
double processor_time_of_pods(const bench_options& options, const char* observation) {
  constexpr int count = 5'000;
  const scratch place;
  const node n{options.program, place.path(), 50, {"--observation", observation}};
  n.wait_for_nodes();
  cluster on{n};
  const auto before = n.processor_s();
  on.create(controller, "of", count);
  on.wait("all running", [&] { return on.has(controller, "of", "readyReplicas", count); });
  return n.processor_s() - before;
}

}  // namespace

void measure_console(results& out, const bench_options& options) {
  constexpr int rounds = 15;
  std::vector<double> with, without, cost;
  for (int i = 0; i < rounds; ++i) {
    // Alternates the order, because other load on the machine varies.
    const bool with_first = i % 2 == 0;
    const auto first = processor_time_of_pods(options, with_first ? "on" : "off");
    const auto second = processor_time_of_pods(options, with_first ? "off" : "on");
    with.push_back((with_first ? first : second) * 1e3);
    without.push_back((with_first ? second : first) * 1e3);
    cost.push_back(100 * (with.back() / without.back() - 1));
  }
  out.add("5,000 pods Running, processor time without observation, p50", percentile(without, 50),
          "ms");
  out.add("… with observation, p50", percentile(with, 50), "ms");
  out.add("… what observation costs, p50 of pairs", percentile(cost, 50), "%", at_most(3));
}

}  // namespace troupe::bench
