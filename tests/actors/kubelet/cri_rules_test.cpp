// The conversion of pods to the container runtime interface: the rules, without a runtime.
#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "actors/kubelet/logs/log_reader.hpp"
#include "actors/kubelet/node/node_facts.hpp"
#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/runtimes/cri/container_request.hpp"
#include "actors/kubelet/runtimes/cri/container_watcher.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/grpc_channel.hpp"
#include "actors/kubelet/runtimes/cri/image_puller.hpp"
#include "actors/kubelet/runtimes/cri/log_rotation.hpp"
#include "actors/kubelet/runtimes/cri/pod_files_of_cri.hpp"
#include "actors/kubelet/runtimes/cri/pod_groups.hpp"
#include "actors/kubelet/runtimes/cri/stream_session.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

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

TEST_CASE("an error of a call is printed as Go prints it", "[kubelet]") {
  CHECK(text_of({grpc_code::not_found, "no image"}) ==
        "rpc error: code = NotFound desc = no image");
  CHECK(text_of({grpc_code::unavailable, ""}) == "rpc error: code = Unavailable desc = ");
  CHECK(text_of({static_cast<grpc_code>(99), "odd"}) == "rpc error: code = Code(99) desc = odd");
}

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
  CHECK(cgroup_parent(pod, group_driver::systemd) == "/kubepods.slice/kubepods-podu1.slice");
  pod.mutable_spec()->set_host_network(true);
  CHECK(sandbox_config_of(pod, 0, node).hostname().empty());
  CHECK(namespaces_of(pod).network() == cri::NODE);
}

TEST_CASE("a pod shares namespaces with its node, or processes among its containers, as it asks") {
  struct row {
    bool host_network, host_pid, host_ipc, share_processes;
    cri::NamespaceMode network, pid, ipc;
  };
  for (const auto& each : {row{false, false, false, false, cri::POD, cri::CONTAINER, cri::POD},
                           row{true, false, false, false, cri::NODE, cri::CONTAINER, cri::POD},
                           row{false, true, false, false, cri::POD, cri::NODE, cri::POD},
                           row{false, false, true, false, cri::POD, cri::CONTAINER, cri::NODE},
                           row{false, false, false, true, cri::POD, cri::POD, cri::POD},
                           row{true, true, true, false, cri::NODE, cri::NODE, cri::NODE}}) {
    auto pod = web_pod();
    auto& spec = *pod.mutable_spec();
    spec.set_host_network(each.host_network);
    spec.set_host_pid(each.host_pid);
    spec.set_host_ipc(each.host_ipc);
    spec.set_share_process_namespace(each.share_processes);
    const auto found = namespaces_of(pod);
    CAPTURE(each.host_network, each.host_pid, each.host_ipc, each.share_processes);
    CHECK(found.network() == each.network);
    CHECK(found.pid() == each.pid);
    CHECK(found.ipc() == each.ipc);
    const auto config = sandbox_config_of(pod, 0, node);
    const auto& sandbox = config.linux().security_context().namespace_options();
    CHECK(sandbox.SerializeAsString() == found.SerializeAsString());
  }
}

TEST_CASE("a sandbox has the host ports of containers and sidecars") {
  auto pod = web_pod();
  auto& spec = *pod.mutable_spec();
  const auto publish = [](auto& container, int port) {
    auto& made = *container.add_ports();
    made.set_container_port(80);
    made.set_host_port(port);
  };
  publish(*spec.mutable_containers(0), 8080);
  publish(*spec.add_init_containers(), 8081);
  auto& sidecar = *spec.add_init_containers();
  sidecar.set_restart_policy("Always");
  publish(sidecar, 8082);
  const auto config = sandbox_config_of(pod, 0, node);
  std::vector<int> ports;
  for (const auto& each : config.port_mappings())
    ports.push_back(each.host_port());
  CHECK(ports == std::vector<int>{8080, 8082});
  spec.set_host_network(true);
  CHECK(sandbox_config_of(pod, 0, node).port_mappings_size() == 0);
}

TEST_CASE("a container has the profile, groups and mounts of its spec, or is refused") {
  auto pod = web_pod();
  auto& context = *pod.mutable_spec()->mutable_security_context();
  context.mutable_app_armor_profile()->set_type("Localhost");
  context.mutable_app_armor_profile()->set_localhost_profile("web-rules");
  context.set_supplemental_groups_policy("Strict");
  auto& sysctl = *context.add_sysctls();
  sysctl.set_name("net/ipv4/tcp_rmem");
  sysctl.set_value("1 2 3");
  auto& mount = *pod.mutable_spec()->mutable_containers(0)->add_volume_mounts();
  mount.set_name("data");
  mount.set_mount_path("/data");
  mount.set_recursive_read_only("Enabled");

  const auto sandbox = sandbox_config_of(pod, 0, node).linux();
  CHECK(sandbox.sysctls().at("net.ipv4.tcp_rmem") == "1 2 3");
  CHECK(sandbox.security_context().apparmor().localhost_ref() == "web-rules");

  container_config config;
  config.pod =
      std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(pod), 1);
  config.spec = {config.pod, &config.pod->as<Pod>().spec().containers(0)};
  config.mounts.push_back({"/volumes/data", "", "/data", true});
  const auto refused = container_request(config, node, {}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == "CreateContainerConfigError");
  CHECK(refused.error().message ==
        "failed to resolve recursive read-only mode: volume \"data\" requested recursive read-only "
        "mode, but it is not supported by the runtime");

  auto able = node;
  able.recursive_read_only = true;
  const auto made = container_request(config, able, {}, {});
  REQUIRE(made);
  const auto& security = made->linux().security_context();
  CHECK(security.apparmor().profile_type() == cri::SecurityProfile::Localhost);
  CHECK(security.apparmor().localhost_ref() == "web-rules");
  CHECK(security.supplemental_groups_policy() == cri::Strict);
  CHECK(made->mounts(0).recursive_read_only());
}

TEST_CASE("a pod's resolver has the node's settings and the pod's additions, or the pod's alone") {
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

TEST_CASE("what a pod adds to its resolver replaces an option, and repeats nothing") {
  auto with_dns = node;
  with_dns.dns = parse_dns("nameserver 10.0.0.1\nsearch a\noptions ndots:5 rotate\n");
  auto pod = web_pod();
  auto& own = *pod.mutable_spec()->mutable_dns_config();
  for (const auto* server : {"10.0.0.1", "1.1.1.1", "8.8.8.8", "9.9.9.9"})
    own.add_nameservers(server);
  for (const auto* domain : {"a", "b"})
    own.add_searches(domain);
  auto& dots = *own.add_options();
  dots.set_name("ndots");
  dots.set_value("2");
  own.add_options()->set_name("edns0");
  const auto dns = sandbox_config_of(pod, 0, with_dns).dns_config();
  using texts = std::vector<std::string>;
  CHECK(texts{dns.servers().begin(), dns.servers().end()} ==
        texts{"10.0.0.1", "1.1.1.1", "8.8.8.8"});
  CHECK(texts{dns.searches().begin(), dns.searches().end()} == texts{"a", "b"});
  CHECK(texts{dns.options().begin(), dns.options().end()} == texts{"ndots:2", "rotate", "edns0"});
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

TEST_CASE("a pod's hosts are its own names and aliases, on the node's network the node's too") {
  auto pod = web_pod();
  auto& alias = *pod.mutable_spec()->add_host_aliases();
  alias.set_ip("1.2.3.4");
  alias.add_hostnames("a");
  alias.add_hostnames("b");
  CHECK_THAT(
      hosts_file(pod, {"10.0.0.7", "fd00::7"}),
      Catch::EndsWith(
          "10.0.0.7\tweb\nfd00::7\tweb\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n"));
  CHECK(hosts_file_of_node(pod, "127.0.0.1 localhost\n") ==
        "# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\n"
        "# Entries added by HostAliases.\n1.2.3.4\ta\tb\n");
  pod.mutable_spec()->clear_host_aliases();
  pod.mutable_spec()->set_subdomain("team");
  CHECK_THAT(hosts_file(pod, {"10.0.0.7", "fd00::7"}),
             Catch::EndsWith("10.0.0.7\tweb.team.shop.svc.cluster.local\tweb\n"
                             "fd00::7\tweb.team.shop.svc.cluster.local\tweb\n"));
  CHECK(host_name(pod) == "web");
  pod.mutable_spec()->set_set_hostname_as_fqdn(true);
  CHECK(sandbox_config_of(pod, 0, node).hostname() == "web.team.shop.svc.cluster.local");
  pod.mutable_spec()->set_hostname(std::string(60, 'h'));
  CHECK_THAT(host_name(pod).error(), Catch::Contains("is too long (64 characters is the max"));
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

TEST_CASE("a pod's group has the sum of its containers, or the need of its init containers") {
  auto pod = web_pod();
  auto& first = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  set_amount(*first.mutable_requests(), "cpu", "250m");
  set_amount(*first.mutable_limits(), "cpu", "500m");
  set_amount(*first.mutable_limits(), "memory", "64Mi");
  CHECK(group_limits_of(pod) == pod_group_limits{256, 50'000, 64 << 20});
  auto& second = *pod.mutable_spec()->add_containers()->mutable_resources();
  set_amount(*second.mutable_limits(), "memory", "16Mi");
  CHECK(group_limits_of(pod) == pod_group_limits{256, std::nullopt, 80 << 20});
  auto& side = *pod.mutable_spec()->add_init_containers();
  side.set_restart_policy("Always");
  set_amount(*side.mutable_resources()->mutable_limits(), "memory", "4Mi");
  CHECK(group_limits_of(pod).memory_bytes == 84 << 20);
  auto& setup = *pod.mutable_spec()->add_init_containers()->mutable_resources();
  set_amount(*setup.mutable_limits(), "memory", "100Mi");
  CHECK(group_limits_of(pod).memory_bytes == 104 << 20);
  pod.mutable_spec()->add_containers();
  CHECK_FALSE(group_limits_of(pod).memory_bytes);
  pod.mutable_status()->set_qos_class("BestEffort");
  CHECK(group_limits_of(pod).cpu_shares == 2);
  CHECK(weight_of_shares(2) == 1);
  CHECK(weight_of_shares(1024) == 39);
  CHECK(weight_of_shares(262144) == 10'000);
}

TEST_CASE("while a pod is resized its group has the larger of its limits") {
  const pod_group_limits small{100, 10'000, 1 << 20}, other{50, 20'000, std::nullopt};
  CHECK(larger_limits(small, other) == pod_group_limits{100, 20'000, std::nullopt});
  CHECK(larger_limits(other, small) == pod_group_limits{100, 20'000, std::nullopt});
}

TEST_CASE("the limits of a pod's group are written for either version of control groups") {
  auto pod = web_pod();
  auto& amounts = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  set_amount(*amounts.mutable_limits(), "memory", "1Mi");
  set_amount(*amounts.mutable_limits(), "cpu", "1");
  const test::scratch_folder folder;
  for (const auto* controller : {"cpu", "memory", "pids"})
    std::filesystem::create_directory(folder.path() / controller);
  const auto text = [&](const std::string& name) {
    std::ifstream file{folder.path() / name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  auto limits = group_limits_of(pod);
  limits.pids = 100;
  CHECK(set_pod_group(pod, limits, folder.path()).empty());
  CHECK(text("pids/kubepods/burstable/podu1/pids.max") == "100\n");
  folder.write("pids/kubepods/burstable/podu1/pids.current", "7\n");
  CHECK(processes_of(pod, folder.path()) == 7);
  CHECK(text("memory/kubepods/burstable/podu1/memory.limit_in_bytes") == "1048576\n");
  CHECK(text("cpu/kubepods/burstable/podu1/cpu.cfs_quota_us") == "100000\n");
  folder.write("cgroup.controllers", "cpu memory\n");
  CHECK(set_pod_group(pod, limits, folder.path()).empty());
  CHECK(text("kubepods/burstable/podu1/pids.max") == "100\n");
  CHECK(text("kubepods/burstable/podu1/memory.max") == "1048576\n");
  CHECK(text("kubepods/burstable/podu1/cpu.max") == "100000 100000\n");
  CHECK(text("kubepods/cgroup.subtree_control") == "+cpu +memory +pids\n");
  CHECK_FALSE(set_pod_group(pod, group_limits_of(pod), "/proc/nothing").empty());
}

TEST_CASE("with systemd's driver the group of a pod is a slice, and its limits are properties") {
  auto pod = web_pod();
  pod.mutable_metadata()->set_uid("af-1b");
  auto by_systemd = node;
  by_systemd.groups = group_driver::systemd;
  CHECK(sandbox_config_of(pod, 0, by_systemd).linux().cgroup_parent() ==
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podaf_1b.slice");
  pod.mutable_status()->set_qos_class("BestEffort");
  CHECK(cgroup_parent(pod, group_driver::systemd) ==
        "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podaf_1b.slice");
  pod_group_limits limits;
  limits.cpu_shares = 2;
  CHECK(slice_properties(limits) == std::vector<std::string>{"CPUWeight=1"});
  limits.cpu_shares = 1024;
  limits.cpu_quota_us = 150'500;
  limits.memory_bytes = 4096;
  limits.pids = 100;
  CHECK(slice_properties(limits) == std::vector<std::string>{"CPUWeight=39", "CPUQuota=151%",
                                                             "MemoryMax=4096", "TasksMax=100"});
}

TEST_CASE(
    "the group of all pods has the unreserved resources, with either version of control groups") {
  const test::scratch_folder folder;
  for (const auto* controller : {"cpu", "memory"})
    std::filesystem::create_directory(folder.path() / controller);
  const auto text = [&](const std::string& name) {
    std::ifstream file{folder.path() / name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  CHECK(limit_all_pods({.milli_cpu = 1'500, .memory_bytes = 4096}, folder.path()).empty());
  CHECK(text("cpu/kubepods/cpu.shares") == "1536\n");
  CHECK(text("memory/kubepods/memory.limit_in_bytes") == "4096\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "cpu/kubepods/cpu.cfs_quota_us"));
  folder.write("cgroup.controllers", "cpu memory\n");
  CHECK(limit_all_pods({.milli_cpu = 0, .memory_bytes = 0}, folder.path()).empty());
  CHECK(text("kubepods/cpu.weight") == "1\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "kubepods/memory.max"));
  CHECK_FALSE(limit_all_pods({}, "/proc/nothing").empty());
}

TEST_CASE("the groups of the QoS classes share processors by requests, with either version") {
  const test::scratch_folder folder;
  std::filesystem::create_directory(folder.path() / "cpu");
  const auto text = [&](const std::string& name) {
    std::ifstream file{folder.path() / name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  CHECK(share_among_classes(1'500, folder.path()).empty());
  CHECK(text("cpu/kubepods/burstable/cpu.shares") == "1536\n");
  CHECK(text("cpu/kubepods/besteffort/cpu.shares") == "2\n");
  CHECK(share_among_classes(1'000'000, folder.path()).empty());
  CHECK(text("cpu/kubepods/burstable/cpu.shares") == "262144\n");
  CHECK(share_among_classes(0, folder.path()).empty());
  CHECK(text("cpu/kubepods/burstable/cpu.shares") == "2\n");
  folder.write("cgroup.controllers", "cpu memory\n");
  CHECK(share_among_classes(1'000, folder.path()).empty());
  CHECK(text("kubepods/burstable/cpu.weight") == "39\n");
  CHECK(text("kubepods/besteffort/cpu.weight") == "1\n");
  CHECK_FALSE(share_among_classes(0, "/proc/nothing").empty());
  CHECK(class_group("burstable", group_driver::systemd) ==
        "/kubepods.slice/kubepods-burstable.slice");
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
  // An image without a user runs as root.
  CHECK_FALSE(check_user(pod, container, user_of(cri::Image{})));
  cri::Image named;
  named.set_username("nginx");
  CHECK_FALSE(user_of(named).uid);
  named.mutable_uid()->set_value(7);
  CHECK(check_user(pod, container, user_of(named)));
  container.mutable_security_context()->set_run_as_user(0);
  CHECK(check_user(pod, container, {7, ""})
            .error()
            .starts_with("container's runAsUser breaks non-root policy"));
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

TEST_CASE("a termination message is the end of its file, or of the log where that is asked for") {
  const test::scratch_folder folder;
  cri::ContainerStatus ended;
  auto& notes = *ended.mutable_annotations();
  notes[cri_annotations::message_file] = folder.write("message", std::string(5'000, 'a') + "end");
  const auto message = termination_message(ended);
  CHECK(message.size() == 4096);
  CHECK(message.ends_with("aend"));
  notes[cri_annotations::message_file] = folder.write("empty", "");
  ended.set_log_path(folder.write("0.log", "2026-01-02T03:04:05.1Z stderr F it broke\n"));
  ended.set_exit_code(1);
  CHECK(termination_message(ended).empty());
  notes[cri_annotations::termination_policy] = "FallbackToLogsOnError";
  CHECK(termination_message(ended) == "it broke\n");
  ended.set_exit_code(0);
  CHECK(termination_message(ended).empty());
}

TEST_CASE("a log that grows is rotated, older ones are compressed, and five are kept") {
  const test::scratch_folder folder;
  const auto path = (folder.path() / "0.log").string();
  const auto unpacked = [&](int number) {
    auto* const file = ::gzopen(fmt::format("{}.{}.gz", path, number).c_str(), "rb");
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(::gzread(file, text.data(), 100)));
    ::gzclose(file);
    return text;
  };
  folder.write("0.log", "small");
  CHECK_FALSE(rotate_log(path, {10}));
  for (int i = 0; i < 7; ++i) {
    folder.write("0.log", fmt::format("log of round {}", i));
    REQUIRE(rotate_log(path, {10}));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::filesystem::file_size(path + ".1") == 14);
  CHECK(unpacked(2) == "log of round 5");
  CHECK(unpacked(4) == "log of round 3");
  const std::filesystem::directory_iterator files{folder.path()};
  CHECK(std::distance(begin(files), end(files)) == 4);
  INFO("a program that was killed did not let the runtime open the next log");
  CHECK(rotate_log(path, {10}));
  CHECK(unpacked(2) == "log of round 5");
  undo_rotation(path);
  CHECK(std::filesystem::file_size(path) == 14);
}

TEST_CASE("a log of two files is the current one and the former one") {
  const test::scratch_folder folder;
  const auto path = (folder.path() / "0.log").string();
  for (int i = 0; i < 3; ++i) {
    folder.write("0.log", fmt::format("log of round {}", i));
    REQUIRE(rotate_log(path, {10, 2}));
  }
  const std::filesystem::directory_iterator files{folder.path()};
  CHECK(std::distance(begin(files), end(files)) == 1);
  CHECK(std::filesystem::exists(path + ".1"));
}

TEST_CASE("a reader that follows a log loses nothing that is written late to a rotated file") {
  const test::scratch_folder folder;
  const auto file = folder.write("0.log", "2026-01-02T03:04:05.1Z stdout F one\n");
  log_reader log{file, {}};
  CHECK(log.next() == "one\n");
  std::filesystem::rename(file, file.string() + ".1");
  folder.write("0.log", "2026-01-02T03:04:05.3Z stdout F three\n");
  CHECK(log.next().empty());
  std::ofstream{file.string() + ".1", std::ios::app} << "2026-01-02T03:04:05.2Z stdout F two\n";
  CHECK(log.next() == "two\n");
  std::string rest;
  for (int i = 0; i < 3 && rest.empty(); ++i)
    rest = log.next();
  CHECK(rest == "three\n");
}

TEST_CASE("a link or a pipe in place of a log is not read") {
  const test::scratch_folder folder;
  const auto secret = folder.write("secret", "2026-01-02T03:04:05.1Z stdout F key\n");
  const auto linked = folder.path() / "0.log", piped = folder.path() / "1.log";
  std::filesystem::create_symlink(secret, linked);
  REQUIRE(::mkfifo(piped.c_str(), 0600) == 0);
  CHECK(log_reader{linked, {}}.next() == "");
  CHECK(log_reader{piped, {}}.next() == "");
  CHECK(log_reader{secret, {}}.next() == "key\n");
}

TEST_CASE("files of attempts that are no longer needed are removed, others stay") {
  const test::scratch_folder folder;
  const cri_node at{.root_dir = folder.path(), .dns = {}};
  const auto dir = folder.path() / "pods" / "u1";
  for (const auto* name : {"logs/main", "messages", "sub-paths/main-1"})
    std::filesystem::create_directories(dir / name);
  for (const auto* name : {"logs/main/1.log", "logs/main/1.log.1", "logs/main/1.log.2.gz",
                           "logs/main/2.log", "logs/main/3.log", "messages/main-1",
                           "messages/main-2", "messages/main-1-1", "sub-paths/main-1/0"})
    std::ofstream{dir / name} << "x";
  remove_older_files(at, "u1", "main", 3);
  const auto has = [&](const char* name) { return std::filesystem::exists(dir / name); };
  for (const auto* gone : {"logs/main/1.log", "logs/main/1.log.1", "logs/main/1.log.2.gz",
                           "messages/main-1", "sub-paths/main-1"})
    CHECK_FALSE(has(gone));
  for (const auto* kept :
       {"logs/main/2.log", "logs/main/3.log", "messages/main-2", "messages/main-1-1"})
    CHECK(has(kept));
}

TEST_CASE("a container that is created again has the same subPaths, once and unchanged") {
  if (!read_node_facts().may_mount) return test::skip("this user may not mount");
  const test::scratch_folder folder;
  const cri_node at{.root_dir = folder.path() / "kubelet", .dns = {}};
  const auto volume = folder.path() / "volume";
  std::filesystem::create_directories(volume / "deep");
  std::ofstream{volume / "file"} << "content";
  const auto pod =
      std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(web_pod()), 1);
  const auto make = [&] {
    container_config config{
        .pod = pod, .spec = {pod, &pod->as<Pod>().spec().containers(0)}, .sandbox = "s"};
    for (const auto* name : {"file", "deep"})
      config.mounts.push_back({.source = volume, .sub_path = name, .target = "/there"});
    const auto made = make_container_files(config, at, {});
    REQUIRE(made);
    return config.mounts.front().source;
  };
  const auto source = make();
  CHECK(make() == source);
  CHECK(std::filesystem::file_size(source) == 7);
  std::size_t count = 0;
  for (const auto& each : read_mounts())
    count += each.point.starts_with(folder.path().string()) ? 1 : 0;
  CHECK(count == 2);
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

TEST_CASE("a call reports at once that no runtime answers") {
  const auto version = ask_runtime_version("/nonexistent/runtime.sock");
  REQUIRE_FALSE(version);
  CHECK(version.error() ==
        "nothing answers at /nonexistent/runtime.sock: No such file or directory");
}
