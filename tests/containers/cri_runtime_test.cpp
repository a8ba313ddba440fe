// The CRI runtime with a containerd of the test's own, without the rest of a node.
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <mutex>
#include <tuple>
#include <vector>

#include "actors/core/metrics.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/runtimes/cri/leftover_sandboxes.hpp"
#include "api/object/object.hpp"
#include "api/scheme.hpp"
#include "runtime/unique_fd.hpp"
#include "support/programs/private_containerd.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

using namespace troupe;
using namespace troupe::actors;
using api::core::v1::Pod;

namespace {

constexpr auto limit = std::chrono::seconds{60};

// Results of callbacks, for a thread that waits for them.
template <class T>
class heard {
 public:
  auto listener() {
    return [state = state_](T value) {
      const std::lock_guard lock{state->mutex};
      state->all.push_back(std::move(value));
      state->changed.notify_all();
    };
  }
  T next() {
    std::unique_lock lock{state_->mutex};
    REQUIRE(state_->changed.wait_for(lock, limit, [&] { return state_->all.size() > seen_; }));
    return std::move(state_->all[seen_++]);
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<T> all;
  };
  const std::shared_ptr<state> state_ = std::make_shared<state>();
  std::size_t seen_ = 0;
};

api::object_ptr web_pod(const std::string& uid) {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_name("web");
  pod->mutable_metadata()->set_namespace_("default");
  pod->mutable_metadata()->set_uid(uid);
  pod->mutable_status()->set_qos_class("BestEffort");
  auto& container = *pod->mutable_spec()->add_containers();
  container.set_name("main");
  container.set_image("localhost/tools:1");
  container.set_image_pull_policy("Never");
  container.set_termination_message_path("/dev/termination-log");
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
}

std::shared_ptr<cri_runtime> runtime_at(const test::private_containerd& server,
                                        const std::filesystem::path& root,
                                        const image_limits& limits = {}) {
  return std::make_shared<cri_runtime>(
      cri_runtime_options{.root_dir = root, .socket = server.socket(), .images = limits});
}

sandbox_status sandbox_of(cri_runtime& containers, const api::object_ptr& pod) {
  heard<sandbox_change> sandbox;
  containers.run_sandbox({pod}, sandbox.listener());
  const auto made = sandbox.next();
  if (const auto* lost = std::get_if<sandbox_lost>(&made)) FAIL(lost->error.message);
  return std::get<sandbox_status>(made);
}

}  // namespace

TEST_CASE("a container is made, found by the next program, entered, ended and removed") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  test::private_containerd server{folder.path() / "containerd", "10.213.2.0/24"};
  auto containers = runtime_at(server, folder.path());
  CHECK(containers->features().version.starts_with("containerd://1."));
  const auto pod = web_pod("uid-1");
  const auto& spec = pod->as<Pod>().spec().containers(0);

  heard<sandbox_change> sandbox;
  containers->run_sandbox({pod}, sandbox.listener());
  const auto made = sandbox.next();
  if (const auto* lost = std::get_if<sandbox_lost>(&made)) FAIL(lost->error.message);
  const auto& ready = std::get<sandbox_status>(made);
  REQUIRE(ready.ips.size() == 1);
  CHECK(ready.ips[0].starts_with("10.213.2."));

  heard<runtime_result<std::string>> answers;
  heard<runtime_result<available_image>> images;
  containers->pull_image(
      {pod, {pod, &spec}}, [] {}, images.listener());
  const auto image = images.next();
  if (!image) FAIL(image.error().message);
  containers->create_container(
      {.pod = pod,
       .spec = {pod, &spec},
       .sandbox = ready.id,
       .image_ref = image->ref,
       .command = {"sh", "-c",
                   "echo hello; echo bye > /dev/termination-log; trap 'exit 3' TERM; "
                   "while :; do sleep 0.1; done"},
       .environment = {"PATH=/bin"}},
      answers.listener());
  const auto id = answers.next();
  if (!id) FAIL(id.error().message);
  CHECK(id->starts_with("containerd://"));

  heard<container_change> changes;
  containers->start_container(*id, changes.listener());
  const auto started = changes.next();
  if (const auto* exit = std::get_if<container_exit>(&started)) FAIL(exit->error);

  heard<runtime_result<command_result>> commands;
  containers->run_command(*id, {"cat", "/etc/hostname"}, limit, commands.listener());
  const auto name = commands.next();
  REQUIRE(name);
  CHECK(name->output == "web\n");

  // The next process.
  containers.reset();
  containers = runtime_at(server, folder.path());
  heard<found_pod> pods;
  containers->list("uid-1", pods.listener());
  const auto found = pods.next();
  REQUIRE(found.sandbox);
  CHECK(found.sandbox->ips == ready.ips);
  REQUIRE(found.containers.size() == 1);
  CHECK(found.containers[0].id == *id);
  CHECK(found.containers[0].image == "localhost/tools:1");
  heard<container_change> later;
  containers->follow_container(*id, later.listener());
  CHECK(std::holds_alternative<container_running>(later.next()));

  const auto log = containers->open_log({"uid-1", "main", *id}, {});
  heard<log_text> texts;
  log->read(texts.listener());
  CHECK(texts.next().text == "hello\n");
  const auto foreign = containers->open_log({"uid-2", "main", *id}, {});
  foreign->read(texts.listener());
  CHECK(texts.next().missing);

  const auto before = std::chrono::steady_clock::now();
  containers->stop_container(*id, limit, {});
  const auto end = later.next();
  CHECK(std::chrono::steady_clock::now() - before < limit * 3 / 4);
  REQUIRE(std::holds_alternative<container_exit>(end));
  CHECK(std::get<container_exit>(end).code == 3);
  CHECK(std::get<container_exit>(end).message == "bye\n");

  heard<bool> removed;
  containers->remove_pod("uid-1", [tell = removed.listener()](auto) { tell(true); });
  removed.next();
  heard<std::vector<std::string>> uids;
  containers->list_pods(uids.listener());
  CHECK(uids.next().empty());
  CHECK(server.ctr("containers ls -q") == "");
  for (const auto* method : {"RunPodSandbox", "CreateContainer", "StartContainer", "ExecSync"}) {
    const auto* counted = find_runtime_operation(method);
    REQUIRE(counted != nullptr);
    CHECK(counted->times.sum_ns > 0);
    CHECK(counted->failed == 0);
  }
}

TEST_CASE("a container that runs gets other limits, and its pod's group with it") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.13.0/24"};
  const auto containers = runtime_at(server, folder.path());
  const auto sized = [](const char* cpu, const char* memory) {
    auto pod = web_pod("uid-resized")->copy_as<Pod>();
    pod->mutable_status()->set_qos_class("Burstable");
    auto& limits =
        *pod->mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_limits();
    limits["cpu"].set_string(cpu);
    limits["memory"].set_string(memory);
    return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
  };
  const auto pod = sized("200m", "64Mi");
  const auto& spec = pod->as<Pod>().spec().containers(0);
  const auto sandbox = sandbox_of(*containers, pod);
  heard<runtime_result<std::string>> answers;
  heard<runtime_result<available_image>> images;
  containers->pull_image(
      {pod, {pod, &spec}}, [] {}, images.listener());
  const auto image = images.next();
  if (!image) FAIL(image.error().message);
  containers->create_container({.pod = pod,
                                .spec = {pod, &spec},
                                .sandbox = sandbox.id,
                                .image_ref = image->ref,
                                .command = {"sleep", "300"},
                                .environment = {"PATH=/bin"}},
                               answers.listener());
  const auto id = answers.next();
  if (!id) FAIL(id.error().message);
  heard<container_change> changes;
  containers->start_container(*id, changes.listener());
  REQUIRE(std::holds_alternative<container_running>(changes.next()));

  const auto limits_inside = [&] {
    heard<runtime_result<command_result>> commands;
    containers->run_command(
        *id,
        {"sh", "-c",
         "cd /sys/fs/cgroup; if [ -e cpu.max ]; then cut -d' ' -f1 cpu.max; cat memory.max; else "
         "cat cpu/cpu.cfs_quota_us memory/memory.limit_in_bytes; fi"},
        limit, commands.listener());
    const auto said = commands.next();
    return said ? said->output : said.error().message;
  };
  const auto group_memory = [] {
    const std::string group = "kubepods/burstable/poduid-resized/";
    std::ifstream v2{"/sys/fs/cgroup/" + group + "memory.max"};
    std::ifstream v1{"/sys/fs/cgroup/memory/" + group + "memory.limit_in_bytes"};
    std::int64_t bytes = 0;
    if (!(v2 >> bytes)) v1 >> bytes;
    return bytes;
  };
  CHECK(limits_inside() == "20000\n67108864\n");
  // First larger, then smaller than at first: version 1 refuses a cpu limit below those of the
  // group's children.
  heard<runtime_result<void>> resized;
  api::object_ptr before = pod;
  for (const auto& [cpu, memory, seen, bytes] :
       {std::tuple{"500m", "128Mi", "50000\n134217728\n", 128 << 20},
        std::tuple{"100m", "32Mi", "10000\n33554432\n", 32 << 20}}) {
    const auto next = sized(cpu, memory);
    containers->resize({.pod = next, .before = before, .containers = {{*id, "main"}}},
                       resized.listener());
    before = next;
    const auto result = resized.next();
    if (!result) FAIL(result.error().message);
    CHECK(limits_inside() == seen);
    CHECK(group_memory() == bytes);
  }
  containers->resize({.pod = pod, .before = before, .containers = {{"containerd://none", "main"}}},
                     resized.listener());
  CHECK_FALSE(resized.next().has_value());

  containers->stop_container(*id, {}, {});
  REQUIRE(std::holds_alternative<container_exit>(changes.next()));
  heard<bool> removed;
  containers->remove_pod("uid-resized", [tell = removed.listener()](auto) { tell(true); });
  removed.next();
}

TEST_CASE("the end of a container is noticed by the runtime's events, not by the next list") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.16.0/24"};
  const auto containers = runtime_at(server, folder.path());
  const auto pod = web_pod("uid-end");
  const auto& spec = pod->as<Pod>().spec().containers(0);
  const auto sandbox = sandbox_of(*containers, pod);
  constexpr int ends = 3;
  std::chrono::system_clock::duration late{};
  for (int i = 0; i < ends; ++i) {
    heard<runtime_result<std::string>> answers;
    containers->create_container({.pod = pod,
                                  .spec = {pod, &spec},
                                  .attempt = i,
                                  .sandbox = sandbox.id,
                                  .image_ref = "localhost/tools:1",
                                  .command = {"sleep", "0.3"}},
                                 answers.listener());
    const auto id = answers.next();
    if (!id) FAIL(id.error().message);
    heard<container_change> changes;
    containers->start_container(*id, changes.listener());
    REQUIRE(std::holds_alternative<container_running>(changes.next()));
    const auto end = changes.next();
    const auto* exit = std::get_if<container_exit>(&end);
    REQUIRE(exit != nullptr);
    late += std::chrono::system_clock::now() -
            std::chrono::system_clock::time_point{std::chrono::milliseconds{exit->finished_ms}};
  }
  // Lists would notice one in each period.
  CHECK(late < ends * cri_defaults::relist / 2);

  heard<bool> removed;
  containers->remove_pod("uid-end", [tell = removed.listener()](auto) { tell(true); });
  removed.next();
}

TEST_CASE("the writable layer of a container is measured") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.15.0/24"};
  const auto containers = runtime_at(server, folder.path());
  const auto pod = web_pod("uid-layer");
  const auto& spec = pod->as<Pod>().spec().containers(0);
  const auto sandbox = sandbox_of(*containers, pod);
  heard<runtime_result<std::string>> answers;
  containers->create_container(
      {.pod = pod,
       .spec = {pod, &spec},
       .sandbox = sandbox.id,
       .image_ref = "localhost/tools:1",
       .command = {"sh", "-c", "head -c 3000000 /dev/zero > /file; exec sleep 300"}},
      answers.listener());
  const auto id = answers.next();
  if (!id) FAIL(id.error().message);
  heard<container_change> changes;
  containers->start_container(*id, changes.listener());
  REQUIRE(std::holds_alternative<container_running>(changes.next()));

  heard<std::vector<layer_usage>> layers;
  const auto measure = [&](const std::string& uid) {
    containers->read_layers(uid, layers.listener());
    return layers.next();
  };
  // The server measures it every second.
  const auto deadline = std::chrono::steady_clock::now() + limit;
  auto found = measure("uid-layer");
  while ((found.empty() || found[0].bytes < 3'000'000) &&
         std::chrono::steady_clock::now() < deadline)
    found = measure("uid-layer");
  REQUIRE(found.size() == 1);
  CHECK(found[0].pod_uid == "uid-layer");
  CHECK(found[0].container == "main");
  CHECK(found[0].bytes >= 3'000'000);
  CHECK(found[0].bytes < 3'200'000);
  CHECK_FALSE(found[0].apart);
  CHECK(measure({}).size() == 1);
  CHECK(measure("uid-other").empty());

  heard<bool> removed;
  containers->remove_pod("uid-layer", [tell = removed.listener()](auto) { tell(true); });
  removed.next();
}

TEST_CASE("a command has its input to the end, its output, and its code") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  test::private_containerd server{folder.path() / "containerd", "10.213.3.0/24"};
  const auto containers = runtime_at(server, folder.path());
  const auto pod = web_pod("uid-3");
  const auto& spec = pod->as<Pod>().spec().containers(0);
  const auto sandbox = sandbox_of(*containers, pod);
  heard<runtime_result<std::string>> answers;
  containers->create_container({.pod = pod,
                                .spec = {pod, &spec},
                                .sandbox = sandbox.id,
                                .image_ref = "localhost/tools:1",
                                .command = {"httpd", "-f", "-p", "127.0.0.1:8080", "-h", "/etc"}},
                               answers.listener());
  const auto id = answers.next();
  if (!id) FAIL(id.error().message);
  heard<container_change> changes;
  containers->start_container(*id, changes.listener());
  REQUIRE(std::holds_alternative<container_running>(changes.next()));

  using stream = std::shared_ptr<exec_stream>;
  heard<runtime_result<stream>> streams;
  containers->open_exec(*id, {.command = {"sh", "-c", "cat; exit 6"}, .input = true},
                        [tell = streams.listener()](auto opened) {
                          if (!opened) return tell(tl::make_unexpected(opened.error()));
                          tell(stream{std::move(*opened)});
                        });
  const auto opened = streams.next();
  if (!opened) FAIL(opened.error().message);
  heard<bool> written;
  (*opened)->write(std::string(300'000, 'x'), written.listener());
  (*opened)->close_input();
  std::string output;
  heard<exec_part> parts;
  for (;;) {
    (*opened)->read(parts.listener());
    const auto part = parts.next();
    if (part.from == exec_part::kind::output) output += part.bytes;
    if (part.from != exec_part::kind::ended) continue;
    CHECK(part.code == 6);
    CHECK(part.bytes == "");
    break;
  }
  CHECK(written.next());
  CHECK(output == std::string(300'000, 'x'));

  using port = std::shared_ptr<port_stream>;
  heard<runtime_result<port>> ports;
  containers->forward_port("uid-3", 8080, [tell = ports.listener()](auto made_port) {
    if (!made_port) return tell(tl::make_unexpected(made_port.error()));
    tell(port{std::move(*made_port)});
  });
  const auto web = ports.next();
  if (!web) FAIL(web.error().message);
  (*web)->write("GET /hostname HTTP/1.0\r\n\r\n", written.listener());
  std::string page;
  heard<std::string> bytes;
  for (;;) {
    (*web)->read(bytes.listener());
    const auto part = bytes.next();
    if (part.empty()) break;
    page += part;
  }
  CHECK(page.find("web\n") != page.npos);

  // Whoever learns the URL of a stream has no use of it once it was opened.
  cri_client client{std::make_shared<event_loop>(), server.socket()};
  cri::ExecRequest ask;
  ask.set_container_id(id->substr(id->find("//") + 2));
  ask.add_cmd("true");
  ask.set_stdout(true);
  const auto url = wait_for<cri::Url>(client, "Exec", ask);
  REQUIRE(url);
  CHECK_THAT(url->url(), Catch::StartsWith("http://127.0.0.1:"));
  const auto code = [&] {
    return test::shell("curl -sS -o /dev/null -w '%{http_code}' -X POST " + url->url()).output;
  };
  CHECK(code() == "400");  // it asks for no stream
  CHECK(code() == "404");

  heard<bool> removed;
  containers->remove_pod("uid-3", [tell = removed.listener()](auto) { tell(true); });
  removed.next();
}

TEST_CASE(
    "resources that a machine left in the runtime are removed, those of other machines stay") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder, other;
  const test::private_containerd server{folder.path() / "containerd", "10.213.7.0/24"};
  const auto run = [&](const std::filesystem::path& root, const std::string& uid) {
    const auto containers = runtime_at(server, root);
    sandbox_of(*containers, web_pod(uid));
  };
  run(folder.path(), "uid-5");
  run(other.path(), "uid-6");
  const auto sandboxes = [&](const char* uid) {
    return server.ctr(std::string{"containers ls -q labels.\"io.kubernetes.pod.uid\"=="} + uid);
  };
  REQUIRE(sandboxes("uid-5") != "");
  CHECK(end_leftover_sandboxes(folder.path()));
  CHECK(sandboxes("uid-5") == "");
  CHECK(sandboxes("uid-6") != "");
  // Nothing is left to request, even if no runtime answers.
  CHECK(end_leftover_sandboxes(folder.path()));
  remember_runtime(folder.path(), "/nonexistent/socket");
  const auto unreachable = end_leftover_sandboxes(folder.path());
  REQUIRE_FALSE(unreachable);
  CHECK(unreachable.error().find("/nonexistent/socket") != std::string::npos);
}

TEST_CASE("a sandbox is made by the handler that it names, or not at all") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.8.0/24"};
  const auto containers = runtime_at(server, folder.path());
  heard<sandbox_change> made, refused;
  containers->run_sandbox({web_pod("uid-8"), "runc"}, made.listener());
  CHECK(std::holds_alternative<sandbox_status>(made.next()));
  containers->run_sandbox({web_pod("uid-9"), "none-such"}, refused.listener());
  const auto answer = refused.next();
  REQUIRE(std::holds_alternative<sandbox_lost>(answer));
  CHECK_THAT(std::get<sandbox_lost>(answer).error.message, Catch::Contains("none-such"));
}

TEST_CASE("a registry that never answers does not keep the images of others from the node") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.9.0/24"};
  const auto containers = runtime_at(server, folder.path());
  // The kernel accepts its connections, and nobody reads them.
  const runtime::unique_fd silent{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(silent.get(), 16) == 0);
  REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);

  const auto pull = [&](const std::string& ns, const std::string& image,
                        heard<runtime_result<available_image>>& answers) {
    auto pod = std::make_unique<Pod>();
    pod->mutable_metadata()->set_namespace_(ns);
    pod->mutable_metadata()->set_uid(ns + image);
    pod->mutable_spec()->add_containers()->set_image(image);
    const auto object = std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
    containers->pull_image(
        {object, {object, &object->as<Pod>().spec().containers(0)}}, [] {}, answers.listener());
  };
  heard<runtime_result<available_image>> endless, other;
  const auto port = ntohs(address.sin_port);
  for (const auto* name : {"a", "b", "c"})
    pull("hostile", fmt::format("127.0.0.1:{}/{}:1", port, name), endless);
  pull("default", "127.0.0.1:9/none:1", other);
  const auto answer = other.next();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == "ErrImagePull");
}

TEST_CASE("images of no container go when the disk is full, that of sandboxes stays") {
  if (const auto lacks = test::private_containerd::missing()) return test::skip(*lacks);
  const test::scratch_folder folder;
  const test::private_containerd server{folder.path() / "containerd", "10.213.4.0/24"};
  const auto images = [&] { return server.ctr("images ls -q"); };
  REQUIRE(images().find("localhost/tools:1") != std::string::npos);
  // Every disk is fuller than that.
  const auto containers = runtime_at(
      server, folder.path(),
      {.high_percent = 0, .low_percent = 0, .smallest_age = std::chrono::milliseconds{0}});
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (images().find("localhost/tools:1") != std::string::npos)
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  CHECK(images().find("localhost/pause:1") != std::string::npos);
}
