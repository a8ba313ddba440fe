// The pure rules of the kubelet: environment, status, restarts.
#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/simulated/simulated_pod.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Endpoints;
using api::core::v1::Pod;
using api::core::v1::Service;

namespace {

template <class T>
T parse(const std::string& yaml) {
  auto decoded = api::decode(yaml, api::media::yaml, &api::kind_of<T>());
  REQUIRE(decoded);
  return static_cast<const T&>(*decoded->content);
}

api::object_ptr nothing(const std::string&) {
  return nullptr;
}

using lines = std::vector<std::string>;

lines own_variables(const lines& all) {
  lines own;
  for (const auto& line : all)
    if (line.rfind("PATH=", 0) != 0 && line.rfind("HOSTNAME=", 0) != 0) own.push_back(line);
  return own;
}

}  // namespace

TEST_CASE("variables refer to those before them, and to fields of the pod", "[kubelet]") {
  const auto pod = parse<Pod>(R"yaml(
metadata: {name: web, namespace: shop, uid: u1, labels: {app: front}}
spec:
  nodeName: n1
  containers:
  - name: c
    command: [echo, $(GREETING), $(UNKNOWN), $$(GREETING)]
    args: [$(NAME)]
    resources: {requests: {cpu: 1500m, memory: 64Mi}}
    env:
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
    - {name: CPUS, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}
    - {name: GREETING, value: "hi $(NAME) $(LATER) $$(NAME)"}
    - {name: LATER, value: x}
)yaml");
  const auto& container = pod.spec().containers(0);
  const auto made = container_environment(pod, container, nothing);
  REQUIRE(made);
  CHECK(own_variables(*made) ==
        lines{"NAME=web", "APP=front", "CPUS=2", "GREETING=hi web $(LATER) $(NAME)", "LATER=x"});
  CHECK(expand_words(container.command(), *made) ==
        lines{"echo", "hi web $(LATER) $(NAME)", "$(UNKNOWN)", "$(GREETING)"});
  CHECK(expand_words(container.args(), *made) == lines{"web"});
}

TEST_CASE("a container finds the services of its namespace, and the API, by variables",
          "[kubelet]") {
  const auto service = [](const std::string& text) {
    return std::make_shared<const api::object>(api::kind_of<Service>(),
                                               std::make_unique<Service>(parse<Service>(text)), 1);
  };
  const std::vector<api::object_ptr> services = {
      service("metadata: {name: redis-master, namespace: a}\n"
              "spec: {clusterIP: 10.96.0.7, ports: [{name: db, port: 6379, protocol: TCP}, "
              "{name: more, port: 53, protocol: UDP}]}"),
      service("metadata: {name: headless, namespace: a}\n"
              "spec: {clusterIP: None, ports: [{port: 80, protocol: TCP}]}"),
      service("metadata: {name: six, namespace: a}\n"
              "spec: {clusterIP: \"fd00::1\", ports: [{port: 80, protocol: TCP}]}")};
  auto pod = parse<Pod>("metadata: {name: web, namespace: a}\nspec: {containers: [{name: c}]}");
  const auto shown = [&](const api::object_ptr& api, const local_api& here) {
    std::map<std::string, std::string> out;
    for (const auto& [name, value] : service_variables(pod, services, api, here))
      out[name] = value;
    return out;
  };
  auto all = shown(nullptr, {});
  CHECK(all["REDIS_MASTER_SERVICE_HOST"] == "10.96.0.7");
  CHECK(all["REDIS_MASTER_SERVICE_PORT"] == "6379");
  CHECK(all["REDIS_MASTER_SERVICE_PORT_MORE"] == "53");
  CHECK(all["REDIS_MASTER_PORT"] == "tcp://10.96.0.7:6379");
  CHECK(all["REDIS_MASTER_PORT_53_UDP"] == "udp://10.96.0.7:53");
  CHECK(all["REDIS_MASTER_PORT_53_UDP_PROTO"] == "udp");
  CHECK(all["REDIS_MASTER_PORT_53_UDP_ADDR"] == "10.96.0.7");
  CHECK(all["SIX_PORT"] == "tcp://[fd00::1]:80");
  CHECK_FALSE(all.contains("HEADLESS_SERVICE_HOST"));
  CHECK_FALSE(all.contains("KUBERNETES_SERVICE_HOST"));

  const auto endpoints = std::make_shared<const api::object>(
      api::kind_of<Endpoints>(),
      std::make_unique<Endpoints>(parse<Endpoints>(
          "metadata: {name: kubernetes, namespace: default}\n"
          "subsets: [{addresses: [{ip: 192.0.2.7}], ports: [{name: https, port: 6443, "
          "protocol: TCP}]}]")),
      1);
  pod.mutable_spec()->set_enable_service_links(false);
  all = shown(endpoints, {"127.0.0.1", 7443});
  CHECK(all["KUBERNETES_SERVICE_HOST"] == "192.0.2.7");
  CHECK(all["KUBERNETES_SERVICE_PORT_HTTPS"] == "6443");
  CHECK_FALSE(all.contains("REDIS_MASTER_SERVICE_HOST"));
  CHECK(shown(nullptr, {"127.0.0.1", 7443})["KUBERNETES_SERVICE_PORT"] == "7443");

  // A node with rules for services: any control plane may answer, also from a pod's own network.
  const local_api by_service{.host = "127.0.0.1", .port = 7443, .by_service = true};
  all = shown(service("metadata: {name: kubernetes, namespace: default}\n"
                      "spec: {clusterIP: 10.96.0.1, ports: [{name: https, port: 443, "
                      "targetPort: 7443, protocol: TCP}]}"),
              by_service);
  CHECK(all["KUBERNETES_SERVICE_HOST"] == "10.96.0.1");
  CHECK(all["KUBERNETES_SERVICE_PORT"] == "443");
  CHECK(all["KUBERNETES_PORT"] == "tcp://10.96.0.1:443");
  CHECK_FALSE(shown(nullptr, by_service).contains("KUBERNETES_SERVICE_HOST"));
  CHECK(api_key(by_service) == api::kind_of<Service>().key("default", "kubernetes"));
  CHECK(api_key({}) == api::kind_of<Endpoints>().key("default", "kubernetes"));
}

TEST_CASE("a container's host name is from its pod's spec, or derived from the pod's name",
          "[kubelet]") {
  auto pod = parse<Pod>("metadata: {name: web}\nspec: {containers: [{name: c}]}");
  const auto hostname = [&] {
    const auto made = container_environment(pod, pod.spec().containers(0), nothing);
    REQUIRE(made);
    const auto found = std::find_if(made->begin(), made->end(),
                                    [](const auto& line) { return line.starts_with("HOSTNAME="); });
    return found->substr(std::string_view{"HOSTNAME="}.size());
  };
  CHECK(hostname() == "web");
  pod.mutable_metadata()->set_name(std::string(61, 'a') + ".-b");
  CHECK(hostname() == std::string(61, 'a'));
  pod.mutable_spec()->set_hostname("front");
  CHECK(hostname() == "front");
  pod.mutable_spec()->set_hostname_override("shop.example");
  CHECK(hostname() == "shop.example");
}

TEST_CASE("variables contain the node's addresses and the resources of any container",
          "[kubelet]") {
  auto pod = parse<Pod>(R"yaml(
metadata: {name: web, namespace: shop, uid: u1}
spec:
  initContainers: [{name: i, resources: {limits: {cpu: 3}}}]
  containers:
  - name: c
    resources: {limits: {cpu: 2}}
    env:
    - {name: POD, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: PODS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}
    - {name: HOSTS, valueFrom: {fieldRef: {fieldPath: status.hostIPs}}}
    - {name: OWN, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "0"}}}
    - {name: OTHER, valueFrom: {resourceFieldRef: {containerName: i, resource: limits.cpu}}}
status: {hostIP: 10.0.0.1, podIP: 10.1.0.2, podIPs: [{ip: 10.1.0.2}, {ip: "fd00:42::2"}]}
)yaml");
  auto made = container_environment(pod, pod.spec().containers(0), nothing);
  REQUIRE(made);
  CHECK(own_variables(*made) ==
        lines{"POD=10.1.0.2", "PODS=10.1.0.2,fd00:42::2", "HOSTS=10.0.0.1", "OWN=2", "OTHER=3"});
  for (const auto* ip : {"10.0.0.1", "fd00::1"})
    pod.mutable_status()->add_host_ips()->set_ip(ip);
  made = container_environment(pod, pod.spec().containers(0), nothing);
  REQUIRE(made);
  CHECK(own_variables(*made)[2] == "HOSTS=10.0.0.1,fd00::1");
  (*pod.mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_limits())["cpu"]
      .set_string("1e999999999");
  made = container_environment(pod, pod.spec().containers(0), nothing);
  REQUIRE(made);
  CHECK(own_variables(*made)[3] == "OWN=9223372036854776");
  auto& reference = *pod.mutable_spec()
                         ->mutable_containers(0)
                         ->mutable_env(4)
                         ->mutable_value_from()
                         ->mutable_resource_field_ref();
  reference.set_container_name("none");
  made = container_environment(pod, pod.spec().containers(0), nothing);
  REQUIRE_FALSE(made);
  CHECK(made.error() == "container none not found");
}

TEST_CASE("config maps and secrets become variables, and a missing one is named", "[kubelet]") {
  const auto pod = parse<Pod>(R"(
metadata: {name: web, namespace: shop}
spec:
  containers:
  - name: c
    envFrom: [{prefix: P_, configMapRef: {name: settings}}]
    env:
    - {name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
    - {name: B, valueFrom: {secretKeyRef: {name: none, key: b, optional: true}}}
)");
  const auto read = [](const std::string& key) -> api::object_ptr {
    if (key != "/registry/configmaps/shop/settings") return nullptr;
    auto map = std::make_unique<api::core::v1::ConfigMap>();
    (*map->mutable_data())["a"] = "1";
    return std::make_shared<api::object>(api::kind_of<api::core::v1::ConfigMap>(), std::move(map),
                                         1);
  };
  const auto made = container_environment(pod, pod.spec().containers(0), read);
  REQUIRE(made);
  CHECK(own_variables(*made) == lines{"P_a=1", "A=1"});
  const auto refused = container_environment(pod, pod.spec().containers(0), nothing);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == "ConfigMap \"settings\" not found");
}

TEST_CASE("the restart policy decides whether an ended container is restarted", "[kubelet]") {
  auto pod = parse<Pod>("spec: {containers: [{name: c}]}");
  container_record ended{.name = "c", .phase = container_phase::exited};
  for (const auto& [policy, code, again] :
       {std::tuple{"Always", 0, true}, std::tuple{"Always", 1, true},
        std::tuple{"OnFailure", 0, false}, std::tuple{"OnFailure", 1, true},
        std::tuple{"Never", 0, false}, std::tuple{"Never", 1, false}}) {
    pod.mutable_spec()->set_restart_policy(policy);
    ended.last = container_exit{.code = code};
    CAPTURE(policy, code);
    CHECK(restarts(pod, ended) == again);
  }
}

TEST_CASE("a container is restarted at once, then later and later, until it has lasted",
          "[kubelet]") {
  using namespace std::chrono_literals;
  container_record record{.name = "c"};
  runtime::time_point now{};
  for (const auto wait : {0s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    now += 1h;
    plan_restart(record, 599s, now);
    CHECK(record.retry_at == now + wait);
  }
  plan_restart(record, 600s, now);
  CHECK(record.retry_at == now);
  plan_restart(record, 1s, now);
  CHECK(record.retry_at == now + 10s);
}

TEST_CASE("an init container must succeed, whatever becomes of the others", "[kubelet]") {
  auto pod = parse<Pod>("spec: {containers: [{name: c}]}");
  container_record ended{
      .name = "i", .role = container_role::init, .phase = container_phase::exited};
  for (const auto& [policy, code, again] :
       {std::tuple{"Always", 0, false}, std::tuple{"Always", 1, true},
        std::tuple{"OnFailure", 1, true}, std::tuple{"Never", 1, false}}) {
    pod.mutable_spec()->set_restart_policy(policy);
    ended.last = container_exit{.code = code};
    CAPTURE(policy, code);
    CHECK(restarts(pod, ended) == again);
  }
  // A probe or a hook that ended a container decides, unless the policy is Never.
  container_record unwell{.name = "c", .phase = container_phase::exited, .restart_wanted = true};
  unwell.last = container_exit{.code = 0};
  pod.mutable_spec()->set_restart_policy("OnFailure");
  CHECK(restarts(pod, unwell));
  pod.mutable_spec()->set_restart_policy("Never");
  CHECK_FALSE(restarts(pod, unwell));
}

TEST_CASE("an init container of a former sandbox is undone while others are to run", "[kubelet]") {
  auto pod = parse<Pod>("spec: {restartPolicy: OnFailure, containers: [{name: c}]}");
  using enum container_phase;
  const container_exit well{.code = 0}, ill{.code = 1};
  const auto look = [&](std::string sandbox, container_phase phase, container_exit how) {
    const std::vector<container_record> all{{.name = "i",
                                             .role = container_role::init,
                                             .phase = exited,
                                             .sandbox = std::move(sandbox),
                                             .last = well},
                                            {.name = "c", .phase = phase, .last = how}};
    CHECK_FALSE(needs_rerun(pod, all[1], all, "second"));
    return needs_rerun(pod, all[0], all, "second");
  };
  CHECK(look("first", waiting, well));
  CHECK(look("first", exited, ill));
  CHECK_FALSE(look("first", exited, well));
  CHECK_FALSE(look("first", running, well));
  CHECK_FALSE(look("first", starting, well));  // not known yet
  CHECK_FALSE(look("second", exited, ill));
  CHECK_FALSE(look("", exited, ill));
  pod.mutable_spec()->set_restart_policy("Never");
  CHECK_FALSE(look("first", exited, ill));
}

TEST_CASE("a container is ready when it has started, its hook has ended and its probe succeeds",
          "[kubelet]") {
  const auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: c}]}");
  std::vector<container_record> all{{.name = "c", .phase = container_phase::running}};
  auto& c = all[0];
  const auto ready = [&] {
    const auto status = observed_status(pod, all, {}, runtime::wall_time{});
    const auto& written = status.container_statuses(0);
    const auto* condition = find_condition(status.conditions(), "Ready");
    CHECK(written.started() == (c.started && c.phase == container_phase::running));
    CHECK((condition->status() == "True") == written.ready());
    return written.ready();
  };
  CHECK(ready());
  c.preparing = true;
  CHECK_FALSE(ready());
  c.preparing = false, c.started = false;
  CHECK_FALSE(ready());
  c.started = true, c.ready = false;
  CHECK_FALSE(ready());
  c.ready = true, c.phase = container_phase::waiting;
  CHECK_FALSE(ready());
}

TEST_CASE("a pod with readiness gates is ready when all of them are open", "[kubelet]") {
  auto pod = parse<Pod>(
      "metadata: {uid: u}\nspec: {containers: [{name: c}], readinessGates: [{conditionType: a}, "
      "{conditionType: b}]}");
  const std::vector<container_record> all{{.name = "c", .phase = container_phase::running}};
  const auto look = [&] {
    const auto status = observed_status(pod, all, {}, runtime::wall_time{});
    CHECK(find_condition(status.conditions(), "ContainersReady")->status() == "True");
    const auto* ready = find_condition(status.conditions(), "Ready");
    return ready->status() + " " + ready->reason();
  };
  auto& conditions = *pod.mutable_status()->mutable_conditions();
  CHECK(look() == "False ReadinessGatesNotReady");
  set_condition(conditions, {"a", "True", "", ""}, runtime::wall_time{});
  CHECK(look() == "False ReadinessGatesNotReady");
  set_condition(conditions, {"b", "True", "", ""}, runtime::wall_time{});
  CHECK(look() == "True ");
  set_condition(conditions, {"a", "False", "", ""}, runtime::wall_time{});
  CHECK(look() == "False ReadinessGatesNotReady");
}

TEST_CASE("a pod that has finished stays so, whatever its containers seem to be", "[kubelet]") {
  auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: c}]}");
  const std::vector<container_record> all{{.name = "c"}};
  for (const char* phase : {"Succeeded", "Failed"}) {
    pod.mutable_status()->set_phase(phase);
    CHECK(observed_status(pod, all, {}, runtime::wall_time{}).phase() == phase);
  }
}

TEST_CASE("a container of a finished pod keeps its end, or has an unknown one", "[kubelet]") {
  auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: c}]}");
  const std::vector<container_record> all{{.name = "c"}};
  const auto deadline = deadline_failure();
  const auto failed = observed_status(pod, all, {}, runtime::wall_time{}, true, &deadline);
  CHECK_FALSE(failed.container_statuses(0).state().has_waiting());
  CHECK(failed.container_statuses(0).state().terminated().reason() == "ContainerStatusUnknown");
  CHECK(failed.container_statuses(0).state().terminated().exit_code() == 137);

  auto& status = *pod.mutable_status();
  status.set_phase("Succeeded");
  status.mutable_start_time()->set_seconds(1);
  auto& before = *status.add_container_statuses();
  before.set_name("c");
  before.mutable_state()->mutable_terminated()->set_reason("Completed");
  const auto later = observed_status(pod, all, {}, runtime::wall_time{});
  CHECK(later.container_statuses(0).state().terminated().reason() == "Completed");
}

TEST_CASE("a container counts as restarted when it has started, not while it waits", "[kubelet]") {
  const auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: c}]}");
  std::vector<container_record> all{{.name = "c"}};
  const auto restarts = [&](container_phase phase, int attempt) {
    all[0].phase = phase;
    all[0].attempt = attempt;
    if (attempt > 0) all[0].last = container_exit{.code = 1};
    const auto status = observed_status(pod, all, {}, runtime::wall_time{});
    return status.container_statuses(0).restart_count();
  };
  using enum container_phase;
  CHECK(restarts(waiting, 0) == 0);
  CHECK(restarts(running, 0) == 0);
  CHECK(restarts(waiting, 1) == 0);
  CHECK(restarts(starting, 1) == 0);
  CHECK(restarts(running, 1) == 1);
  CHECK(restarts(exited, 1) == 1);
  CHECK(restarts(waiting, 2) == 1);
}

TEST_CASE("a pod has the first address of each family, that of its node's family first",
          "[kubelet]") {
  const lines all{"fd00:42::2", "10.0.0.2", "10.0.0.3", "fd00:42::3"};
  CHECK(pod_ips_of(all, "10.0.0.1") == lines{"10.0.0.2", "fd00:42::2"});
  CHECK(pod_ips_of(all, "fd00::1") == lines{"fd00:42::2", "10.0.0.2"});
  CHECK(pod_ips_of({"10.0.0.2"}, "fd00::1") == lines{"10.0.0.2"});
  CHECK(pod_ips_of({}, "10.0.0.1").empty());
}

TEST_CASE("the statuses of containers are sorted by name, those of init containers as they run",
          "[kubelet]") {
  const auto pod = parse<Pod>(
      "metadata: {uid: u}\nspec: {containers: [{name: z}, {name: b}], initContainers: [{name: y}, "
      "{name: a}], ephemeralContainers: [{name: x}, {name: c}]}");
  const auto status = observed_status(pod, records_of(pod), {"10.0.0.1", {}}, runtime::wall_time{});
  const auto names = [](const auto& all) {
    lines out;
    for (const auto& each : all)
      out.push_back(each.name());
    return out;
  };
  CHECK(names(status.container_statuses()) == lines{"b", "z"});
  CHECK(names(status.init_container_statuses()) == lines{"y", "a"});
  CHECK(names(status.ephemeral_container_statuses()) == lines{"c", "x"});
}

TEST_CASE("a pod's phase and conditions follow from its containers", "[kubelet]") {
  auto pod = parse<Pod>(
      "metadata: {uid: u}\nspec: {restartPolicy: Never, containers: [{name: a}, {name: b}], "
      "initContainers: [{name: i}]}");
  const pod_addresses place{"10.0.0.1", {"10.0.0.2", "fd00:42::2"}};
  std::vector<container_record> all{
      {.name = "i", .role = container_role::init}, {.name = "a"}, {.name = "b"}};
  const auto look = [&] { return observed_status(pod, all, place, runtime::wall_time{}); };
  const auto holds = [](const api::core::v1::PodStatus& status, const char* type) {
    const auto* condition = find_condition(status.conditions(), type);
    return condition != nullptr && condition->status() == "True";
  };

  auto status = look();
  CHECK(status.phase() == "Pending");
  CHECK(status.container_statuses(0).state().waiting().reason() == "PodInitializing");
  CHECK(status.init_container_statuses(0).state().waiting().reason() == "PodInitializing");
  CHECK_FALSE(holds(status, "Initialized"));

  all[0].phase = container_phase::exited;
  all[0].last = container_exit{.code = 0};
  all[1].phase = all[2].phase = container_phase::running;
  status = look();
  CHECK(status.phase() == "Running");
  CHECK(holds(status, "Initialized"));
  CHECK(holds(status, "Ready"));
  CHECK(status.pod_ip() == "10.0.0.2");
  REQUIRE(status.pod_ips_size() == 2);
  CHECK(status.pod_ips(0).ip() == "10.0.0.2");
  CHECK(status.pod_ips(1).ip() == "fd00:42::2");

  all[2].ready = false;
  CHECK_FALSE(holds(look(), "Ready"));

  all[1].phase = all[2].phase = container_phase::exited;
  all[1].last = container_exit{.code = 0};
  all[2].last = container_exit{.code = 137, .signal = 9};
  status = look();
  CHECK(status.phase() == "Failed");
  CHECK(status.container_statuses(1).state().terminated().exit_code() == 137);
  all[2].last = container_exit{.code = 0};
  CHECK(look().phase() == "Succeeded");

  all[0].last = container_exit{.code = 1};
  CHECK(look().phase() == "Failed");
}

TEST_CASE("a container's end has the reason that upstream gives it", "[kubelet]") {
  const auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: c}]}");
  for (const auto& [how, reason] :
       {std::pair{container_exit{.code = 0}, "Completed"},
        std::pair{container_exit{.code = 1}, "Error"},
        std::pair{container_exit{.code = 137, .out_of_memory = true}, "OOMKilled"},
        std::pair{container_exit{.code = 128, .error = "no such file"}, "StartError"},
        std::pair{container_exit{.code = 137, .error = "killed", .lost = true},
                  "ContainerStatusUnknown"}}) {
    const std::vector<container_record> all{
        {.name = "c", .phase = container_phase::exited, .last = how}};
    const auto status = observed_status(pod, all, {}, runtime::wall_time{});
    const auto& ended = status.container_statuses(0).state().terminated();
    CHECK(ended.reason() == reason);
    CHECK(ended.message() == how.error);
    CHECK(ended.exit_code() == how.code);
  }
}

TEST_CASE("a pod on a simulated node is ready at once", "[kubelet]") {
  const auto pod = parse<Pod>(
      "metadata: {uid: u}\nspec: {containers: [{name: a, image: x}], initContainers: [{name: i}]}");
  const auto running = as_running(pod, {"10.0.0.1", "10.0.0.2"}, runtime::wall_time{});
  CHECK(running->status().phase() == "Running");
  CHECK(running->status().pod_ip() == "10.0.0.2");
  CHECK(running->status().container_statuses(0).ready());
  CHECK(running->status().init_container_statuses(0).state().terminated().reason() == "Completed");
}

TEST_CASE("a container that waits for its restart has ended once its pod ends", "[kubelet]") {
  const auto pod = parse<Pod>("metadata: {uid: u}\nspec: {containers: [{name: a}]}");
  const std::vector<container_record> all{{.name = "a",
                                           .phase = container_phase::waiting,
                                           .attempt = 3,
                                           .last = container_exit{.code = 7},
                                           .last_id = "process://a/2",
                                           .waiting_reason = "CrashLoopBackOff"}};
  const auto status_of = [&](bool ending) {
    return observed_status(pod, all, {"10.0.0.1", {"10.0.0.2", "fd00:42::2"}}, runtime::wall_time{},
                           ending)
        .container_statuses(0);
  };
  CHECK(status_of(false).state().waiting().reason() == "CrashLoopBackOff");
  const auto ended = status_of(true);
  CHECK_FALSE(ended.state().has_waiting());
  CHECK(ended.state().terminated().exit_code() == 7);
  CHECK(ended.container_id() == "process://a/2");
  CHECK_FALSE(ended.has_last_state());
}

}  // namespace troupe::actors
