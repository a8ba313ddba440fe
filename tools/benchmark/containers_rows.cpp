// Containers run by a containerd of the bench's own: the time that a node adds to the runtime's.
#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "api/values/timestamp.hpp"
#include "benchmark/container_node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr int many = 50, at_once = 8, rounds = 3, single_pods = 15;
constexpr std::chrono::seconds probed{30};
const std::string web = R"("command":["httpd","-f","-p","8080","-h","/tmp"])";

// -- a client of the runtime without a node ------------------------------------------------------

// Runs `action` for 0 to `count` - 1, with limited concurrency.
template <class F>
void in_parallel(int count, F action) {
  std::atomic<int> next{0};
  std::mutex mutex;
  std::string problem;
  std::vector<std::jthread> threads;
  for (int i = 0; i < at_once; ++i)
    threads.emplace_back([&] {
      try {
        for (int number; (number = next++) < count;)
          action(number);
      } catch (const std::exception& failed) {
        const std::lock_guard lock{mutex};
        problem = failed.what();
      }
    });
  threads.clear();
  if (!problem.empty()) die(problem);
}

double start_many_bare(bare_client& bare) {
  std::vector<bare_pod> pods(many);
  const auto began = clock::now();
  in_parallel(many, [&](int i) { pods[i] = bare.start(i, {"httpd", "-f", "-p", "8080"}); });
  const auto took = seconds_since(began);
  in_parallel(many, [&](int i) { bare.remove(pods[i]); });
  return took;
}

// -- the node -------------------------------------------------------------------------------------

std::string pod_spec(const std::string& more) {
  return fmt::format(
      R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"c",{},{}{}}}]}})", image, web,
      more);
}

void create_pod(const node& n, const std::string& name) {
  post(n, core + "pods",
       fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{}}})",
                   name, pod_spec({})));
}

constexpr const char* set_path = "/apis/apps/v1/namespaces/default/replicasets";
const std::string probe =
    R"(,"readinessProbe":{"httpGet":{"path":"/","port":8080},"periodSeconds":10,"failureThreshold":9})";

double start_many(const node& n) {
  pods_in_phase watch{n};
  const auto began = clock::now();
  post(n, set_path,
       fmt::format(R"({{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{{"name":"web"}},)"
                   R"("spec":{{"replicas":{},"selector":{{"matchLabels":{{"app":"web"}}}},)"
                   R"("template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{}}}}}}})",
                   many, pod_spec(probe)));
  watch.await(many);
  return seconds_since(began);
}

void remove_many(const node& n) {
  must(n.client().request("DELETE", std::string{set_path} + "/web"));
  await_no_pods(n);
}

// Seconds that the runtime has spent in all calls so far.
double runtime_seconds(const node& n) {
  const auto text = n.client().get("/metrics").body;
  const std::string name = "kubelet_runtime_operations_duration_seconds_sum{operation_type=\"";
  double sum = 0;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto type =
        text.substr(at + name.size(), text.find('"', at + name.size()) - at - name.size());
    // Counts the calls of a pod's start; other calls occur all the time.
    if (type == "run_podsandbox" || type == "podsandbox_status" || type == "image_status" ||
        type == "create_container" || type == "start_container" || type == "container_status")
      sum += std::atof(text.c_str() + text.find(' ', at));
  }
  return sum;
}

// The time when the store had the pod bound, in seconds since the epoch.
double bound_at(const node& n, const std::string& pod) {
  const auto text = n.client().get("/console/api/history?object=pods/" + pod).body;
  const auto bind = text.find("nodeName");
  if (bind == text.npos) die("no change has bound the pod: " + text);
  const auto read =
      api::parse_time(after(text.substr(text.rfind("{\"revision\"", bind)), "\"time\":\""));
  if (!read) die("no time of the binding: " + text);
  return static_cast<double>(read->seconds) + read->nanos / 1e9;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Milliseconds from bind to Running in a watch, minus the time that the runtime spent on it.
double share_of(const node& n, int number) {
  const auto name = fmt::format("one-{}", number);
  pods_in_phase watch{n};
  const auto before = runtime_seconds(n);
  create_pod(n, name);
  watch.await(1);
  const auto ran = now_s();
  const auto runtime = runtime_seconds(n) - before;
  const auto share = (ran - bound_at(n, name) - runtime) * 1e3;
  must(n.client().request("DELETE", core + "pods/" + name));
  await_no_pods(n);
  return share;
}

// Milliseconds from the end of a container in the runtime's status to the pod's status in a watch.
double report_of_end(const node& n, bare_client& bare, int number) {
  const auto name = fmt::format("end-{}", number);
  pods_in_phase start{n}, end{n, "Succeeded"};
  post(n, core + "pods",
       fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":)"
                   R"({{"restartPolicy":"Never","containers":[{{"name":"c",{},)"
                   R"("command":["sleep","1"]}}]}}}})",
                   name, image));
  start.await(1);
  const auto pod = n.client().get(core + "pods/" + name).body;
  bare.await_end(after(pod, "\"containerID\":\"containerd://"));
  const auto ended = clock::now();
  end.await(1);
  const auto reported = seconds_since(ended);
  must(n.client().request("DELETE", core + "pods/" + name));
  await_no_pods(n);
  return reported * 1e3;
}

}  // namespace

void measure_containers(results& out, const bench_options& options) {
  if (!container_node::can_run()) return;
  container_node on{options.program};
  const auto& n = on.n;
  auto& bare = on.bare;
  out.add("memory of an idle node with a container runtime", n.memory_mb(), "MB", at_most(45));
  std::vector<double> shares;
  for (int i = 0; i < single_pods; ++i)
    shares.push_back(share_of(n, i));
  out.add("a pod from bind to Running in a watch, less what the runtime takes, p50",
          percentile(shares, 50), "ms", at_most(5));
  std::vector<double> ends;
  for (int i = 0; i < single_pods; ++i)
    ends.push_back(report_of_end(n, bare, i));
  out.add("the end of a container in the runtime's status to the pod's in a watch, p50",
          percentile(ends, 50), "ms", at_most(50));
  std::vector<double> ours, theirs, ratios;
  for (int i = 0; i < rounds; ++i) {
    theirs.push_back(start_many_bare(bare));
    ours.push_back(start_many(n));
    if (i == 0) out.add("memory with 50 running containers", n.memory_mb(), "MB", at_most(60));
    ratios.push_back(ours.back() / theirs.back());
    if (i + 1 < rounds) remove_many(n);
  }
  out.add("50 pods at once: all Running", percentile(ours, 50), "s");
  out.add("… over a bare client of the runtime, 8 at once", percentile(ratios, 50), "x",
          at_most(1.15));
  std::this_thread::sleep_for(probed);  // after the first probes
  const auto used = n.processor_s();
  const auto began = clock::now();
  std::this_thread::sleep_for(probed);
  out.add("50 pods with HTTP probes each 10 s: of one core",
          (n.processor_s() - used) / seconds_since(began) * 100, "%", at_most(2));
  out.add("… memory, after 165 pods", n.memory_mb(), "MB");
  remove_many(n);
  on.await_no_pods();
}

}  // namespace troupe::bench
