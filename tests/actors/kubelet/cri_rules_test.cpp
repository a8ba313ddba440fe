// What a pod is to the container runtime interface: the rules, without a runtime.
#include <catch2/catch.hpp>

#include "actors/kubelet/logs/log_reader.hpp"
#include "actors/kubelet/runtimes/cri/container_request.hpp"
#include "actors/kubelet/runtimes/cri/container_watcher.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/image_puller.hpp"
#include "actors/kubelet/runtimes/cri/stream_session.hpp"
#include "api/schema/meta_object.pb.h"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::actors;
using api::core::v1::Pod;

namespace {

Pod web_pod() {
  Pod pod;
  pod.mutable_metadata()->set_name("web");
  pod.mutable_metadata()->set_namespace_("shop");
  pod.mutable_metadata()->set_uid("u1");
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  pod.mutable_status()->set_qos_class("Burstable");
  pod.mutable_spec()->add_containers()->set_name("main");
  return pod;
}

const cri_node node{.root_dir = "/data", .dns = {}, .memory_bytes = 1'000'000'000};

void set_amount(google::protobuf::Map<std::string, api::resource::Quantity>& in, const char* name,
                const char* text) {
  in[name].set_string(text);
}

}  // namespace

TEST_CASE("a sandbox has the pod's labels, those of every kubelet, and its own root directory") {
  auto pod = web_pod();
  const auto config = sandbox_config_of(pod, 2, node);
  CHECK(config.metadata().attempt() == 2);
  CHECK(config.labels().at("app") == "web");
  CHECK(config.labels().at("io.kubernetes.pod.uid") == "u1");
  CHECK(config.labels().at("io.troupe.kubelet.root-dir") == "/data");
  CHECK(config.hostname() == "web");
  CHECK(config.log_directory() == "/data/pods/u1/logs");
  CHECK(config.linux().cgroup_parent() == "/kubepods/burstable/podu1");
  pod.mutable_status()->set_qos_class("Guaranteed");
  CHECK(cgroup_parent(pod) == "/kubepods/podu1");
  pod.mutable_spec()->set_host_network(true);
  CHECK(sandbox_config_of(pod, 0, node).hostname().empty());
  CHECK(namespaces_of(pod).network() == cri::NODE);
}

TEST_CASE("the resolver of a pod is that of the node, with what the pod adds, or the pod's alone") {
  auto with_dns = node;
  with_dns.dns = parse_dns("# mine\nnameserver 10.0.0.1\nsearch a b\nsearch c\noptions ndots:2\n");
  auto pod = web_pod();
  pod.mutable_spec()->mutable_dns_config()->add_nameservers("1.1.1.1");
  const auto both = sandbox_config_of(pod, 0, with_dns).dns_config();
  REQUIRE(both.servers_size() == 2);
  CHECK(both.servers(0) == "10.0.0.1");
  REQUIRE(both.searches_size() == 1);
  CHECK(both.searches(0) == "c");
  pod.mutable_spec()->set_dns_policy("None");
  const auto own = sandbox_config_of(pod, 0, with_dns).dns_config();
  REQUIRE(own.servers_size() == 1);
  CHECK(own.servers(0) == "1.1.1.1");
}

TEST_CASE("where names of the cluster are served a pod asks there, in its namespace first") {
  auto with_dns = node;
  with_dns.dns = parse_dns("nameserver 10.0.0.1\nsearch corp\noptions rotate\n");
  with_dns.dns_address = "10.96.0.10";
  with_dns.dns_domain = "cluster.local";
  auto pod = web_pod();
  const auto servers = [&](const char* policy) {
    pod.mutable_spec()->set_dns_policy(policy);
    const auto made = sandbox_config_of(pod, 0, with_dns).dns_config();
    return std::vector<std::string>{made.servers().begin(), made.servers().end()};
  };
  const std::vector<std::string> of_cluster{"10.96.0.10"}, of_node{"10.0.0.1"};
  CHECK(servers("ClusterFirst") == of_cluster);
  const auto made = sandbox_config_of(pod, 0, with_dns).dns_config();
  CHECK(std::vector<std::string>{made.searches().begin(), made.searches().end()} ==
        std::vector<std::string>{pod.metadata().namespace_() + ".svc.cluster.local",
                                 "svc.cluster.local", "cluster.local", "corp"});
  REQUIRE(made.options_size() == 1);
  CHECK(made.options(0) == "ndots:5");
  CHECK(servers("Default") == of_node);
  CHECK(servers("None").empty());
  pod.mutable_spec()->set_host_network(true);
  CHECK(servers("ClusterFirst") == of_node);
  CHECK(servers("ClusterFirstWithHostNet") == of_cluster);
}

TEST_CASE("resources become shares, a quota, a limit of memory and a score") {
  auto pod = web_pod();
  auto& container = *pod.mutable_spec()->mutable_containers(0);
  CHECK(resources_of(pod, container, node.memory_bytes).cpu_shares() == 2);
  set_amount(*container.mutable_resources()->mutable_limits(), "cpu", "200m");
  set_amount(*container.mutable_resources()->mutable_limits(), "memory", "64Mi");
  set_amount(*container.mutable_resources()->mutable_requests(), "memory", "100M");
  const auto made = resources_of(pod, container, node.memory_bytes);
  CHECK(made.cpu_shares() == 204);
  CHECK(made.cpu_quota() == 20'000);
  CHECK(made.memory_limit_in_bytes() == 64 << 20);
  CHECK(made.oom_score_adj() == 900);
  pod.mutable_status()->set_qos_class("Guaranteed");
  CHECK(resources_of(pod, container, node.memory_bytes).oom_score_adj() == -997);
}

TEST_CASE("runAsNonRoot refuses root, and users that cannot be checked") {
  auto pod = web_pod();
  auto& container = *pod.mutable_spec()->mutable_containers(0);
  CHECK(check_user(pod, container, {0, ""}));
  container.mutable_security_context()->set_run_as_non_root(true);
  CHECK(check_user(pod, container, {0, ""})
            .error()
            .starts_with("container has runAsNonRoot and image will run as root"));
  CHECK(check_user(pod, container, {.uid = std::nullopt, .name = "nginx"})
            .error()
            .starts_with("container has runAsNonRoot and image has non-numeric user (nginx)"));
  CHECK(check_user(pod, container, {7, ""}));
  container.mutable_security_context()->set_run_as_user(0);
  CHECK(check_user(pod, container, {7, ""})
            .error()
            .starts_with("container's runAsUser breaks non-root policy"));
}

TEST_CASE("an image without a tag is the latest, and what names no image is refused") {
  CHECK(complete_image("nginx") == "nginx:latest");
  CHECK(complete_image("127.0.0.1:5000/team/web") == "127.0.0.1:5000/team/web:latest");
  CHECK(complete_image("Reg.example/web:V1") == "Reg.example/web:V1");
  CHECK(complete_image("web@sha256:00") == "web@sha256:00");
  for (const auto* bad : {"", "NGINX", "a b", "web:", "/web", "a//b"})
    CHECK_FALSE(complete_image(bad));
}

TEST_CASE("the end of a command is read from the runtime's status") {
  CHECK(read_status(R"({"status":"Success"})").code == 0);
  const auto failed = read_status(
      R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[
         {"reason":"ExitCode","message":"6"}]}})");
  CHECK(failed.code == 6);
  CHECK(failed.bytes.empty());
  CHECK(read_status(R"({"status":"Failure","message":"no such container"})").bytes ==
        "no such container");
  CHECK_FALSE(read_status("").bytes.empty());
}

TEST_CASE("the end of a container has its code, its times and why") {
  cri::ContainerStatus status;
  status.set_exit_code(137);
  status.set_started_at(1'000'000'000);
  status.set_finished_at(3'000'000'000);
  status.set_reason("OOMKilled");
  const auto exit = exit_of(status);
  CHECK(exit.code == 137);
  CHECK(exit.out_of_memory);
  CHECK(exit.finished_ms - exit.started_ms == 2'000);
}

TEST_CASE("times of a log whose last zeros were cut off are compared as times") {
  const test::scratch_folder folder;
  const auto file = folder.write("0.log",
                                 "2026-01-02T03:04:05.1Z stdout F early\n"
                                 "2026-01-02T03:04:05.25Z stdout F late\n"
                                 "2026-01-02T03:04:06Z stdout F last\n");
  log_query query;
  query.timestamps = true;
  query.since = "2026-01-02T03:04:05.200000000Z";
  log_reader log{file, query};
  CHECK(log.next() == "2026-01-02T03:04:05.250000000Z late\n2026-01-02T03:04:06.000000000Z last\n");
}

TEST_CASE("where no runtime answers, a call says so at once") {
  const auto version = ask_runtime_version("/nonexistent/runtime.sock");
  REQUIRE_FALSE(version);
  CHECK(version.error() ==
        "nothing answers at /nonexistent/runtime.sock: No such file or directory");
}
