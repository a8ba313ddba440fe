#include "benchmark/container_node.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "benchmark/support.hpp"

namespace troupe::bench {
namespace {

constexpr std::chrono::milliseconds look_interval{1};

// Containers of another user reach it.
const std::string& open_to_all(const std::string& folder) {
  ::chmod(folder.c_str(), 0755);
  return folder;
}

}  // namespace

// -- a client of the runtime without a node ------------------------------------------------------

bare_client::bare_client(const std::string& socket, std::string folder)
    : client_{std::make_shared<actors::event_loop>(), socket}, folder_{std::move(folder)} {}

template <class Response, class Request>
Response bare_client::call(const char* method, const Request& request) {
  auto answer = actors::wait_for<Response>(client_, method, request, std::chrono::minutes{2});
  if (!answer) die(std::string{method} + ": " + answer.error().message);
  return std::move(*answer);
}

bare_pod bare_client::start(int number, const std::vector<std::string>& command) {
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

void bare_client::remove(const bare_pod& pod) {
  cri::PodSandboxId id;
  id.set_pod_sandbox_id(pod.sandbox);
  call<cri::Nothing>("StopPodSandbox", id);
  call<cri::Nothing>("RemovePodSandbox", id);
}

void bare_client::run(const std::string& container, const std::string& command) {
  cri::ExecSyncRequest exec;
  exec.set_container_id(container);
  exec.add_cmd(command);
  call<cri::ExecSyncResponse>("ExecSync", exec);
}

void bare_client::await_end(const std::string& container) {
  cri::ContainerStatusRequest ask;
  ask.set_container_id(container);
  for (const auto began = clock::now();
       call<cri::ContainerStatusResponse>("ContainerStatus", ask).status().state() !=
       cri::EXITED;) {
    if (seconds_since(began) > 60) die("a container does not end");
    std::this_thread::sleep_for(look_interval);
  }
}

std::string bare_client::exec(const std::string& container) {
  cri::ExecRequest ask;
  ask.set_container_id(container);
  ask.add_cmd("true");
  ask.set_stdout(true);
  ask.set_stderr(true);
  return call<cri::Url>("Exec", ask).url();
}

std::string bare_client::forward(const std::string& pod) {
  cri::ListPodSandboxRequest list;
  (*list.mutable_filter()->mutable_label_selector())["io.kubernetes.pod.name"] = pod;
  const auto found = call<cri::ListPodSandboxResponse>("ListPodSandbox", list);
  if (found.items_size() != 1) die("no sandbox of " + pod);
  cri::PortForwardRequest ask;
  ask.set_pod_sandbox_id(found.items(0).id());
  return call<cri::Url>("PortForward", ask).url();
}

// -- the node -------------------------------------------------------------------------------------

bool container_node::can_run() {
  const auto lacks = test::private_containerd::missing();
  if (lacks) std::fprintf(stderr, "containers are not measured: %s\n", lacks->c_str());
  return !lacks;
}

container_node::container_node(const std::string& program)
    : server{open_to_all(place.path()) + "/containerd", "10.213.77.0/24"},
      bare{server.socket(), place.path()},
      n{program,
        place.path(),
        1,
        {"--runtime", "cri", "--cri-endpoint", server.endpoint(), "--network-mode", "none"}} {
  n.wait_for_nodes();
}

void container_node::await_no_pods() const {
  bench::await_no_pods(n);
  const std::filesystem::path left = place.path() + "/node/kubelet/pods";
  for (const auto waits = clock::now(); !std::filesystem::is_empty(left);) {
    if (seconds_since(waits) > 30) die("files of pods stay");
    std::this_thread::sleep_for(look_interval);
  }
}

void must(const test::http_answer& answer) {
  if (answer.status / 100 != 2) die(answer.body);
}

void post(const node& n, const std::string& path, const std::string& body) {
  must(n.client().request("POST", path, body, {{"content-type", "application/json"}}));
}

void await_no_pods(const node& n) {
  for (const auto began = clock::now(); seconds_since(began) < 120;) {
    if (n.client().get(core + "pods").body.find("\"spec\"") == std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  die("pods stay");
}

std::string after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  if (at == text.npos) return {};
  const auto from = at + before.size();
  return text.substr(from, text.find_first_of("\"\n", from) - from);
}

// -- pods in a phase ------------------------------------------------------------------------------

pods_in_phase::pods_in_phase(const node& n, const std::string& phase)
    : phase_{fmt::format(R"("phase":"{}")", phase)}, client_{n.client()} {
  client_.send_request("GET", core + "pods?watch=true");
  if (client_.receive_head().status != 200) die("no watch of pods");
}

void pods_in_phase::await(std::size_t count) {
  for (const auto began = clock::now(); names_.size() < count;) {
    if (seconds_since(began) > 120) die("not all pods have " + phase_);
    text_ += client_.connection().receive();
    for (auto end = text_.find('\n'); end != text_.npos; end = text_.find('\n')) {
      take(std::string_view{text_}.substr(0, end));
      text_.erase(0, end + 1);
    }
  }
}

void pods_in_phase::take(std::string_view event) {
  constexpr std::string_view name = R"("metadata":{"name":")";
  const auto at = event.find(name);
  if (at == event.npos || event.find(phase_) == event.npos) return;
  event.remove_prefix(at + name.size());
  names_.emplace(event.substr(0, event.find('"')));
}

}  // namespace troupe::bench
