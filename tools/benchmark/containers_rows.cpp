// Containers run by a containerd of the bench's own: the time that a node adds to the runtime's.
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "api/values/timestamp.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "server/fixtures/stream_clients.hpp"
#include "support/programs/private_containerd.hpp"

namespace troupe::bench {
namespace {

using server::testing::spdy_client;
using server::testing::websocket_client;

constexpr int many = 50, at_once = 8, rounds = 3, single_pods = 15, commands = 30;
constexpr int forwarded_mb = 128;
constexpr std::chrono::seconds probed{30};
constexpr std::chrono::milliseconds look_interval{1};
const std::string core = "/api/v1/namespaces/default/";
const std::string web = R"("command":["httpd","-f","-p","8080","-h","/tmp"])";
const std::string image = R"("image":"localhost/tools:1","imagePullPolicy":"Never")";

// -- a client of the runtime without a node ------------------------------------------------------

struct bare_pod {
  std::string sandbox, container;
};

class bare_client {
 public:
  bare_client(const std::string& socket, std::string folder)
      : client_{std::make_shared<actors::event_loop>(), socket}, folder_{std::move(folder)} {}

  // Makes the calls of a kubelet for a pod, one after the other.
  bare_pod start(int number, const std::vector<std::string>& command) {
    cri::RunPodSandboxRequest sandbox;
    auto& config = *sandbox.mutable_config();
    config.mutable_metadata()->set_name(fmt::format("bare-{}", number));
    config.mutable_metadata()->set_uid(fmt::format("bare-{}", number));
    config.mutable_metadata()->set_namespace_("default");
    config.set_log_directory(folder_);
    config.mutable_linux()->set_cgroup_parent("/kubepods/bare");
    bare_pod made;
    made.sandbox = call<cri::RunPodSandboxResponse>("RunPodSandbox", sandbox).pod_sandbox_id();
    cri::PodSandboxStatusRequest look;
    look.set_pod_sandbox_id(made.sandbox);
    call<cri::PodSandboxStatusResponse>("PodSandboxStatus", look);
    cri::CreateContainerRequest create;
    create.set_pod_sandbox_id(made.sandbox);
    *create.mutable_sandbox_config() = config;
    auto& container = *create.mutable_config();
    container.mutable_metadata()->set_name("c");
    container.mutable_image()->set_image("localhost/tools:1");
    container.mutable_command()->Assign(command.begin(), command.end());
    container.set_log_path(fmt::format("bare-{}.log", number));
    made.container = call<cri::ContainerId>("CreateContainer", create).container_id();
    cri::ContainerId start;
    start.set_container_id(made.container);
    call<cri::Nothing>("StartContainer", start);
    cri::ContainerStatusRequest status;
    status.set_container_id(made.container);
    call<cri::ContainerStatusResponse>("ContainerStatus", status);
    return made;
  }
  void remove(const bare_pod& pod) {
    cri::PodSandboxId id;
    id.set_pod_sandbox_id(pod.sandbox);
    call<cri::Nothing>("StopPodSandbox", id);
    call<cri::Nothing>("RemovePodSandbox", id);
  }
  void run(const std::string& container, const std::string& command) {
    cri::ExecSyncRequest exec;
    exec.set_container_id(container);
    exec.add_cmd(command);
    call<cri::ExecSyncResponse>("ExecSync", exec);
  }
  // Waits until the container's status shows its end.
  void await_end(const std::string& container) {
    cri::ContainerStatusRequest ask;
    ask.set_container_id(container);
    for (const auto began = clock::now();
         call<cri::ContainerStatusResponse>("ContainerStatus", ask).status().state() !=
         cri::EXITED;) {
      if (seconds_since(began) > 60) die("a container does not end");
      std::this_thread::sleep_for(look_interval);
    }
  }
  // Returns the address of a command's streams.
  std::string exec(const std::string& container) {
    cri::ExecRequest ask;
    ask.set_container_id(container);
    ask.add_cmd("true");
    ask.set_stdout(true);
    ask.set_stderr(true);
    return call<cri::Url>("Exec", ask).url();
  }
  // Returns the address of a stream to a pod's ports.
  std::string forward(const std::string& pod) {
    cri::ListPodSandboxRequest list;
    (*list.mutable_filter()->mutable_label_selector())["io.kubernetes.pod.name"] = pod;
    const auto found = call<cri::ListPodSandboxResponse>("ListPodSandbox", list);
    if (found.items_size() != 1) die("no sandbox of " + pod);
    cri::PortForwardRequest ask;
    ask.set_pod_sandbox_id(found.items(0).id());
    return call<cri::Url>("PortForward", ask).url();
  }

 private:
  template <class Response, class Request>
  Response call(const char* method, const Request& request) {
    auto answer = actors::wait_for<Response>(client_, method, request, std::chrono::minutes{2});
    if (!answer) die(std::string{method} + ": " + answer.error().message);
    return std::move(*answer);
  }

  actors::cri_client client_;
  const std::string folder_;
};

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

void must(const test::http_answer& answer) {
  if (answer.status / 100 != 2) die(answer.body);
}

void post(const node& n, const std::string& path, const std::string& body) {
  must(n.client().request("POST", path, body, {{"content-type", "application/json"}}));
}

// Names of pods in a phase, from a watch.
class pods_in_phase {
 public:
  explicit pods_in_phase(const node& n, const std::string& phase = "Running")
      : phase_{fmt::format(R"("phase":"{}")", phase)}, client_{n.client()} {
    client_.send_request("GET", core + "pods?watch=true");
    if (client_.receive_head().status != 200) die("no watch of pods");
  }
  void await(std::size_t count) {
    for (const auto began = clock::now(); names_.size() < count;) {
      if (seconds_since(began) > 120) die("not all pods have " + phase_);
      text_ += client_.connection().receive();
      for (auto end = text_.find('\n'); end != text_.npos; end = text_.find('\n')) {
        take(std::string_view{text_}.substr(0, end));
        text_.erase(0, end + 1);
      }
    }
  }

 private:
  void take(std::string_view event) {
    constexpr std::string_view name = R"("metadata":{"name":")";
    const auto at = event.find(name);
    if (at == event.npos || event.find(phase_) == event.npos) return;
    event.remove_prefix(at + name.size());
    names_.emplace(event.substr(0, event.find('"')));
  }
  const std::string phase_;
  test::http_client client_;
  std::string text_;
  std::set<std::string> names_;
};

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

void await_no_pods(const node& n) {
  for (const auto began = clock::now(); seconds_since(began) < 120;) {
    if (n.client().get(core + "pods").body.find("\"spec\"") == std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  die("pods stay");
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

std::string after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  if (at == text.npos) return {};
  const auto from = at + before.size();
  return text.substr(from, text.find_first_of("\"\n", from) - from);
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

// -- streams --------------------------------------------------------------------------------------

test::wire_options plain_address(const std::string& url) {
  test::wire_options to;
  to.tls = false;
  const auto host = url.find("//") + 2, colon = url.find(':', host);
  to.host = url.substr(host, colon - host);
  to.port = static_cast<std::uint16_t>(std::atoi(url.c_str() + colon + 1));
  to.timeout = std::chrono::seconds{60};
  return to;
}

// The same command over the runtime's own streaming server.
double stream_ms(const std::string& url) {
  const auto began = clock::now();
  spdy_client client{plain_address(url),
                     url.substr(url.find('/', 8)),
                     {{"X-Stream-Protocol-Version", "v4.channel.k8s.io"}}};
  if (client.head().status != 101) die("exec: " + client.head().body);
  const auto status = client.open({{"streamtype", "error"}});
  for (const auto* type : {"stdout", "stderr"})
    client.open({{"streamtype", type}});
  if (!client.await([&] { return client.got(status).find("Success") != std::string::npos; }))
    die("exec has failed: " + client.got(status));
  return seconds_since(began) * 1e3;
}

double exec_ms(const node& n, const std::string& pod) {
  const auto began = clock::now();
  websocket_client client{n.address(),
                          core + "pods/" + pod + "/exec?command=true&stdout=1&stderr=1",
                          "v5.channel.k8s.io"};
  if (client.head().status != 101) die("exec: " + client.head().body);
  std::string last;
  while (auto next = client.next())
    last = std::move(*next);
  if (last.find("Success") == last.npos) die("exec has failed: " + last);
  return seconds_since(began) * 1e3;
}

// Megabytes a second from a port that sends `forwarded_mb`.
double forward_mb_s(const test::wire_options& where, const std::string& path) {
  spdy_client client{where, path, {{"X-Stream-Protocol-Version", "portforward.k8s.io"}}};
  if (client.head().status != 101) die("port-forward: " + client.head().body);
  const auto open = [&](const std::string& type) {
    return client.open({{"streamtype", type}, {"port", "7000"}, {"requestid", "0"}});
  };
  open("error");
  const auto data = open("data");
  client.send(data, "go\n");
  const std::size_t wanted = std::size_t{forwarded_mb} << 20;
  const auto began = clock::now();
  if (!client.await([&] { return client.got(data).size() >= wanted || client.ended(data); }) ||
      client.got(data).size() < wanted)
    die(fmt::format("port-forward brought {} bytes", client.got(data).size()));
  return forwarded_mb / seconds_since(began);
}

void measure_streams(results& out, const node& n, bare_client& bare) {
  const auto source = fmt::format(
      "while true; do nc -l -p 7000 -e sh -c \"read x; head -c {} "
      "/dev/zero\"; done",
      forwarded_mb << 20);
  post(n, core + "pods",
       fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"streams"}},"spec":)"
                   R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"c",{},)"
                   R"("command":["sh","-c",{:?}]}}]}}}})",
                   image, source));
  pods_in_phase{n}.await(1);
  const auto pod = n.client().get(core + "pods/streams").body;
  const auto container = after(pod, "\"containerID\":\"containerd://");
  std::vector<double> ours, own, streams;
  for (int i = 0; i < commands; ++i) {
    ours.push_back(exec_ms(n, "streams"));
    const auto began = clock::now();
    bare.run(container, "true");
    own.push_back(seconds_since(began) * 1e3);
    streams.push_back(stream_ms(bare.exec(container)));
  }
  out.add("a command in a container by the API, p50", percentile(ours, 50), "ms");
  out.add("… over the runtime's own ExecSync", percentile(ours, 50) - percentile(own, 50), "ms",
          at_most(10));
  out.add("… over the runtime's own stream", percentile(ours, 50) - percentile(streams, 50), "ms");
  std::vector<double> through, direct;
  for (int i = 0; i < rounds; ++i) {
    through.push_back(forward_mb_s(n.address(), core + "pods/streams/portforward"));
    const auto url = bare.forward("streams");
    direct.push_back(forward_mb_s(plain_address(url), url.substr(url.find('/', 8))));
  }
  must(n.client().request("DELETE", core + "pods/streams"));
  await_no_pods(n);
  out.add("port-forward over TLS", percentile(through, 50), "MB/s");
  out.add("… over the runtime's own stream", percentile(through, 50) / percentile(direct, 50), "x",
          at_least(0.8));
}

}  // namespace

void measure_containers(results& out, const bench_options& options) {
  if (const auto lacks = test::private_containerd::missing()) {
    std::fprintf(stderr, "containers are not measured: %s\n", lacks->c_str());
    return;
  }
  const scratch place;
  ::chmod(place.path().c_str(), 0755);
  const test::private_containerd server{place.path() + "/containerd", "10.213.77.0/24"};
  bare_client bare{server.socket(), place.path()};
  const node n{options.program,
               place.path(),
               1,
               {"--runtime", "cri", "--cri-endpoint", server.endpoint(), "--network-mode", "none"}};
  n.wait_for_nodes();
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
  measure_streams(out, n, bare);
  // The node removes the pod's files, mounts and sandbox after the pod is deleted.
  const std::filesystem::path left = place.path() + "/node/kubelet/pods";
  for (const auto waits = clock::now(); !std::filesystem::is_empty(left);)
    if (seconds_since(waits) > 30) die("files of pods stay");
}

}  // namespace troupe::bench
