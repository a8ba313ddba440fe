// The CRI runtime when calls are not answered, or not yet: no container is lost or exists twice.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "actors/kubelet/cri/cri_server.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/stream_session.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "runtime/unique_fd.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

using namespace actors;
using api::core::v1::Pod;

namespace {

template <class T>
T await_result(std::future<T> answer) {
  REQUIRE(answer.wait_for(std::chrono::minutes{1}) == std::future_status::ready);
  return answer.get();
}

struct with_server {
  scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  api::object_ptr pod;
  std::unique_ptr<cri_runtime> runtime;

  with_server() {
    auto web = std::make_unique<Pod>();
    web->mutable_metadata()->set_name("web");
    web->mutable_metadata()->set_namespace_("default");
    web->mutable_metadata()->set_uid("u1");
    web->mutable_spec()->add_containers()->set_name("c");
    pod = std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(web), 1);
    cri::PodSandbox sandbox;
    sandbox.set_id("s1");
    sandbox.mutable_metadata()->set_uid("u1");
    server.add(sandbox);
    next_program();
  }
  void next_program() {
    runtime.reset();
    runtime = std::make_unique<cri_runtime>(
        cri_runtime_options{.root_dir = folder.path() / "kubelet", .socket = server.socket()});
  }

  std::future<runtime_result<std::string>> create() {
    const auto answer = std::make_shared<std::promise<runtime_result<std::string>>>();
    const auto& spec = pod->as<Pod>().spec().containers(0);
    runtime->create_container({.pod = pod, .spec = {pod, &spec}, .sandbox = "s1"},
                              [answer](auto id) { answer->set_value(std::move(id)); });
    return answer->get_future();
  }
  std::future<container_change> start(const std::string& id) {
    const auto answer = std::make_shared<std::promise<container_change>>();
    runtime->start_container(id, [answer](const auto& change) { answer->set_value(change); });
    return answer->get_future();
  }
  // Whether the server has got the calls that the runtime has sent so far.
  bool await_earlier_calls() {
    runtime->remove_container("fake://none");
    return server.await_call("RemoveContainer");
  }
  std::future<sandbox_change> run_sandbox() {
    const auto answer = std::make_shared<std::promise<sandbox_change>>();
    runtime->run_sandbox({.pod = pod}, [answer](const auto& change) { answer->set_value(change); });
    return answer->get_future();
  }
  std::future<std::string> remove_pod() {
    const auto answer = std::make_shared<std::promise<std::string>>();
    runtime->remove_pod("u1", [answer](auto problem) { answer->set_value(std::move(problem)); });
    return answer->get_future();
  }
  std::future<found_pod> list() {
    const auto answer = std::make_shared<std::promise<found_pod>>();
    runtime->list("u1", [answer](auto found) { answer->set_value(std::move(found)); });
    return answer->get_future();
  }
};

}  // namespace

TEST_CASE("a container whose creation was not answered is removed, and created again",
          "[kubelet]") {
  with_server t;
  t.server.lose("CreateContainer");
  const auto id = await_result(t.create());
  REQUIRE(id);
  CHECK(*id == "fake://c2");
  REQUIRE(t.server.containers().size() == 1);
  CHECK(t.server.containers().front().id() == "c2");
}

TEST_CASE("a container that a killed program was creating is removed, and created again",
          "[kubelet]") {
  with_server t;
  REQUIRE(await_result(t.create()));
  t.next_program();
  const auto id = await_result(t.create());
  REQUIRE(id);
  CHECK(*id == "fake://c2");
  CHECK(t.server.containers().size() == 1);
}

TEST_CASE("a list of a pod's containers includes one that is being created", "[kubelet]") {
  with_server t;
  t.server.hold("CreateContainer");
  auto id = t.create();
  REQUIRE(t.server.await_call("CreateContainer"));
  auto found = t.list();
  t.runtime->remove_container("fake://none");
  // Sent after the list.
  REQUIRE(t.server.await_call("RemoveContainer"));
  t.server.answer_held();
  CHECK(*await_result(std::move(id)) == "fake://c1");
  const auto containers = await_result(std::move(found)).containers;
  REQUIRE(containers.size() == 1);
  CHECK_FALSE(containers.front().started);
}

TEST_CASE("a list of a pod's containers shows the effect of a start that is under way",
          "[kubelet]") {
  with_server t;
  const auto id = *await_result(t.create());
  t.server.hold("StartContainer");
  auto change = t.start(id);
  REQUIRE(t.server.await_call("StartContainer"));
  auto found = t.list();
  REQUIRE(t.server.await_call("ListContainers"));
  t.server.answer_held();
  CHECK(std::holds_alternative<container_running>(await_result(std::move(change))));
  const auto containers = await_result(std::move(found)).containers;
  REQUIRE(containers.size() == 1);
  CHECK(containers.front().started);
}

TEST_CASE("a container runs though the answer to its start was lost", "[kubelet]") {
  with_server t;
  const auto id = *await_result(t.create());
  t.server.lose("StartContainer");
  CHECK(std::holds_alternative<container_running>(await_result(t.start(id))));
}

TEST_CASE("a pod that is removed while its sandbox is being made leaves none", "[kubelet]") {
  with_server t;
  t.server.hold("RunPodSandbox");
  auto made = t.run_sandbox();
  REQUIRE(t.server.await_call("RunPodSandbox"));
  auto removed = t.remove_pod();
  REQUIRE(t.await_earlier_calls());
  t.server.answer_held();
  CHECK(std::holds_alternative<sandbox_status>(await_result(std::move(made))));
  CHECK(await_result(std::move(removed)).empty());
  CHECK(t.server.sandboxes().empty());
}

TEST_CASE("a pod that fails while its sandbox is being made keeps no address", "[kubelet]") {
  with_server t;
  t.server.hold("RunPodSandbox");
  auto made = t.run_sandbox();
  REQUIRE(t.server.await_call("RunPodSandbox"));
  t.runtime->stop_sandboxes("u1");
  REQUIRE(t.await_earlier_calls());
  t.server.answer_held();
  CHECK(std::holds_alternative<sandbox_status>(await_result(std::move(made))));
  CHECK(machine::wait([&] {
    const auto all = t.server.sandboxes();
    return all.size() == 2 && std::none_of(all.begin(), all.end(), [](const auto& each) {
             return each.state() == cri::SANDBOX_READY;
           });
  }));
  CHECK(await_result(t.remove_pod()).empty());
}

TEST_CASE("streams that the runtime does not open are given up", "[kubelet]") {
  const runtime::unique_fd silent{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  REQUIRE(::bind(silent.get(), address, size) == 0);
  REQUIRE(::listen(silent.get(), 1) == 0);
  REQUIRE(::getsockname(silent.get(), address, &size) == 0);
  const auto url = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/exec/token";
  const auto loop = std::make_shared<event_loop>();
  std::promise<std::string> answer;
  loop->defer([&] {
    stream_session::open(
        loop, url, "v4.channel.k8s.io", exec_openings({}),
        [&](auto session) { answer.set_value(session ? "opened" : session.error()); },
        std::chrono::milliseconds{50});
  });
  CHECK(await_result(answer.get_future()) == "the runtime does not open the streams in time");
  loop->stop();
}

TEST_CASE("a container that has ended uses nothing", "[kubelet]") {
  with_server t;
  for (const auto* id : {"ended", "runs"}) {
    cri::ContainerStats stats;
    stats.mutable_attributes()->set_id(id);
    stats.mutable_writable_layer()->mutable_used_bytes()->set_value(7);
    if (id == std::string_view{"runs"}) stats.mutable_cpu();
    t.server.measure(stats);
  }
  std::promise<std::vector<container_counters>> answer;
  t.runtime->read_usage([&](auto found) { answer.set_value(std::move(found)); });
  const auto found = await_result(answer.get_future());
  REQUIRE(found.size() == 1);
  CHECK(found.front().id == "fake://runs");
}

TEST_CASE("a container is killed by one call at a time, however long the answer takes",
          "[kubelet]") {
  with_server t;
  const auto id = *await_result(t.create());
  const auto kill = [&] { t.runtime->stop_container(id, {}, {}); };
  t.server.hold("StopContainer");
  kill();
  REQUIRE(t.server.await_call("StopContainer"));
  kill();
  t.runtime->remove_container("fake://none");
  // Sent after the second kill.
  REQUIRE(t.server.await_call("RemoveContainer"));
  CHECK(t.server.calls("StopContainer") == 1);
  t.server.answer_held();
  CHECK(machine::wait([&] {
    kill();
    return t.server.calls("StopContainer") > 1;
  }));
}

TEST_CASE("a container whose state the runtime does not know is ended", "[kubelet]") {
  with_server t;
  const auto id = *await_result(t.create());
  t.server.set_state("c1", cri::UNKNOWN);
  const auto change = std::make_shared<std::promise<container_change>>();
  t.runtime->follow_container(id, [change](const auto& seen) { change->set_value(seen); });
  CHECK(std::holds_alternative<container_exit>(await_result(change->get_future())));
}

TEST_CASE("the end of a container is seen at once though the runtime has no events", "[kubelet]") {
  using clock = std::chrono::steady_clock;
  std::promise<void> runs;
  std::promise<clock::time_point> ended;
  with_server t;
  const auto id = *await_result(t.create());
  t.server.set_state("c1", cri::RUNNING);
  t.runtime->follow_container(id, [&](const container_change& change) {
    if (std::holds_alternative<container_running>(change)) runs.set_value();
    if (std::holds_alternative<container_exit>(change)) ended.set_value(clock::now());
  });
  await_result(runs.get_future());
  const auto began = clock::now();
  t.server.set_state("c1", cri::EXITED);
  CHECK(await_result(ended.get_future()) - began < cri_defaults::relist / 2);
}

TEST_CASE("lists without a change cause no request for a status", "[kubelet]") {
  const auto runs = std::make_shared<std::promise<void>>();
  with_server t;
  const auto id = *await_result(t.create());
  t.server.set_state("c1", cri::RUNNING);
  t.runtime->follow_container(id, [runs](const container_change&) { runs->set_value(); });
  await_result(runs->get_future());
  const auto await_lists = [&t](std::size_t more) {
    const auto wanted = t.server.calls("ListContainers") + more;
    REQUIRE(machine::wait([&] { return t.server.calls("ListContainers") >= wanted; }));
  };
  await_lists(2);  // after the last request that began before the container was seen running
  const auto before = t.server.calls("ContainerStatus");
  await_lists(2);
  CHECK(t.server.calls("ContainerStatus") == before);
}

TEST_CASE("a pod has an event for what its containers do not get", "[kubelet]") {
  with_server t;
  Pod pod{t.pod->as<Pod>()};
  CHECK(t.runtime->unsupported_fields(pod).empty());
  auto& volume = *pod.mutable_spec()->add_volumes();
  volume.set_name("all");
  auto& projected = *volume.mutable_volume_source()->mutable_projected();
  projected.add_sources()->mutable_secret();
  projected.add_sources()->mutable_cluster_trust_bundle()->set_path("ca.crt");
  CHECK(t.runtime->unsupported_fields(pod) ==
        std::vector<std::string>{"spec.volumes{all}.projected.clusterTrustBundle"});
}

TEST_CASE("a container that was not started has ended with the reason", "[kubelet]") {
  with_server t;
  const auto change = await_result(t.start("fake://none"));
  REQUIRE(std::holds_alternative<container_exit>(change));
  CHECK(std::get<container_exit>(change).error == "no container none");
}

}  // namespace troupe::test
