// Each control of the Pod Security Standards at each of its versions, and when it applies.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "actors/write/pod_security/evaluate.hpp"
#include "actors/write/pod_security_fixture.hpp"

namespace troupe::test {

using namespace actors::pod_security;

namespace {

struct row {
  std::string_view id;
  int minor;
  std::string_view spec;      // of a pod, as JSON
  std::string_view expected;  // "reason (detail)"; empty: no violation
  std::string_view annotations = "{}";
};

// The control's implementation at a version; null: it does not exist yet.
const control* find_control(std::string_view id, int minor) {
  const control* found = nullptr;
  for (const auto& each : controls())
    if (each.id == id && each.since <= minor) found = &each;
  return found;
}

void check_rows(std::initializer_list<row> rows) {
  for (const auto& [id, minor, spec, expected, annotations] : rows) {
    CAPTURE(id, minor, spec, annotations);
    const auto pod = pod_of(spec, annotations);
    const auto* control = find_control(id, minor);
    REQUIRE(control != nullptr);
    violations found;
    control->check({pod.metadata(), pod.spec()}, found);
    CHECK(details_of(found) == expected);
  }
}

// All three lists of containers, each with one container of these fields.
std::string in_each_list(const std::string& fields) {
  const auto list = [&](const std::string& key, const std::string& name) {
    return "\"" + key + "\":[{\"name\":\"" + name + "\"," + fields + "}]";
  };
  return "{" + list("initContainers", "i") + "," + list("containers", "c") + "," +
         list("ephemeralContainers", "e") + "}";
}

std::string secure(const std::string& fields) {
  return in_each_list("\"securityContext\":{" + fields + "}");
}

}  // namespace

TEST_CASE("The controls of baseline refuse each way out of a container", "[podsecurity]") {
  check_rows({
      {"capabilities_baseline", 0, secure(R"("capabilities":{"add":["CHOWN","KILL"]})"), ""},
      {"capabilities_baseline", 0, secure(R"("capabilities":{"add":["NET_RAW","CHOWN"]})"),
       R"(non-default capabilities (containers "i", "c", "e" must not include "NET_RAW" in )"
       R"(securityContext.capabilities.add))"},
      {"capabilities_baseline", 0, secure(R"("capabilities":{"add":["chown"]})"),
       R"(non-default capabilities (containers "i", "c", "e" must not include "chown" in )"
       R"(securityContext.capabilities.add))"},
      {"hostNamespaces", 0, R"({"hostNetwork":false})", ""},
      {"hostNamespaces", 0, R"({"hostPID":true,"hostNetwork":true,"hostIPC":true})",
       "host namespaces (hostIPC=true, hostNetwork=true, hostPID=true)"},
      {"hostPathVolumes", 0, R"({"volumes":[{"name":"a","emptyDir":{}}]})", ""},
      {"hostPathVolumes", 0,
       R"({"volumes":[{"name":"a","hostPath":{"path":"/"}},{"name":"b","hostPath":{"path":"/"}}]})",
       R"(hostPath volumes (volumes "a", "b"))"},
      {"hostPorts", 0, in_each_list(R"("ports":[{"containerPort":80,"hostPort":0}])"), ""},
      {"hostPorts", 0,
       R"({"containers":[{"name":"c","ports":[{"containerPort":1,"hostPort":80}]}]})",
       R"(hostPort (container "c" uses hostPort 80))"},
      {"hostPorts", 0,
       in_each_list(R"("ports":[{"containerPort":1,"hostPort":80},)"
                    R"({"containerPort":2,"hostPort":443}])"),
       R"(hostPort (containers "i", "c", "e" use hostPorts 443, 80))"},
      {"hostProbesAndHostLifecycle", 34, in_each_list(R"("livenessProbe":{"httpGet":{"port":1}})"),
       ""},
      {"hostProbesAndHostLifecycle", 34,
       R"({"containers":[{"name":"c","readinessProbe":{"tcpSocket":{"host":"h","port":1}}}]})",
       R"(probe or lifecycle host (container "c" uses probe or lifecycle host "h"))"},
      {"hostProbesAndHostLifecycle", 34,
       in_each_list(R"("lifecycle":{"preStop":{"httpGet":{"host":"a","port":1}},)"
                    R"("postStart":{"httpGet":{"host":"b","port":1}}})"),
       R"(probe or lifecycle host (containers "c", "e", "i" use probe or lifecycle hosts "a", "b"))"},
      {"privileged", 0, secure(R"("privileged":false)"), ""},
      {"privileged", 0, secure(R"("privileged":true)"),
       R"(privileged (containers "i", "c", "e" must not set securityContext.privileged=true))"},
      {"procMount", 0, secure(R"("procMount":"Default")"), ""},
      {"procMount", 0, secure(R"("procMount":"Unmasked")"),
       R"(procMount (containers "i", "c", "e" must not set securityContext.procMount to )"
       R"("Unmasked"))"},
      {"windowsHostProcess", 0, secure(R"("windowsOptions":{"hostProcess":false})"), ""},
      {"windowsHostProcess", 0,
       R"({"securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[{"name":"c",)"
       R"("securityContext":{"windowsOptions":{"hostProcess":true}}}]})",
       R"(hostProcess (pod and container "c" must not set )"
       R"(securityContext.windowsOptions.hostProcess=true))"},
  });
}

TEST_CASE("SELinux types are those that confine, and more of them are known later",
          "[podsecurity]") {
  const auto engine = secure(R"("seLinuxOptions":{"type":"container_engine_t"})");
  check_rows({
      {"seLinuxOptions", 0, secure(R"("seLinuxOptions":{"type":"container_t","level":"s0"})"), ""},
      {"seLinuxOptions", 0, secure(R"("seLinuxOptions":{"type":"container_kvm_t"})"), ""},
      {"seLinuxOptions", 30, engine,
       R"(seLinuxOptions (containers "i", "c", "e" set forbidden securityContext.seLinuxOptions: )"
       R"(type "container_engine_t"))"},
      {"seLinuxOptions", 31, engine, ""},
      {"seLinuxOptions", 0, R"({"securityContext":{"seLinuxOptions":{"user":"u","role":"r"}}})",
       "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: user may not be set; "
       "role may not be set)"},
      {"seLinuxOptions", 0,
       R"({"securityContext":{"seLinuxOptions":{"type":"a"}},"containers":[{"name":"c",)"
       R"("securityContext":{"seLinuxOptions":{"type":"b","user":"u"}}}]})",
       R"(seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: )"
       R"(types "a", "b"; user may not be set))"},
  });
}

TEST_CASE("Sysctls are those that are safe at a version", "[podsecurity]") {
  const auto of = [](const std::string& name) {
    return R"({"securityContext":{"sysctls":[{"name":")" + name + R"(","value":"1"}]}})";
  };
  check_rows({
      {"sysctls", 0, of("kernel.shm_rmid_forced"), ""},
      {"sysctls", 0, of("net.ipv4.ip_unprivileged_port_start"), ""},
      {"sysctls", 0, of("kernel.msgmax"), "forbidden sysctls (kernel.msgmax)"},
      {"sysctls", 26, of("net.ipv4.ip_local_reserved_ports"),
       "forbidden sysctls (net.ipv4.ip_local_reserved_ports)"},
      {"sysctls", 27, of("net.ipv4.ip_local_reserved_ports"), ""},
      {"sysctls", 28, of("net.ipv4.tcp_keepalive_time"),
       "forbidden sysctls (net.ipv4.tcp_keepalive_time)"},
      {"sysctls", 29, of("net.ipv4.tcp_keepalive_probes"), ""},
      {"sysctls", 31, of("net.ipv4.tcp_rmem"), "forbidden sysctls (net.ipv4.tcp_rmem)"},
      {"sysctls", 32, of("net.ipv4.tcp_wmem"), ""},
      {"sysctls", 33,
       R"({"securityContext":{"sysctls":[{"name":"b","value":"1"},{"name":"a","value":"1"}]}})",
       "forbidden sysctls (b, a)"},
  });
}

TEST_CASE("Profiles that do not confine are refused by field and by annotation", "[podsecurity]") {
  const auto unconfined = R"({"securityContext":{"seccompProfile":{"type":"Unconfined"}},)"
                          R"("containers":[{"name":"c"}]})";
  check_rows({
      {"appArmorProfile", 0, secure(R"("appArmorProfile":{"type":"Localhost"})"), ""},
      {"appArmorProfile", 0, R"({"securityContext":{"appArmorProfile":{"type":"Unconfined"}}})",
       R"(forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined"))"},
      {"appArmorProfile", 0, R"({"containers":[{"name":"c"}]})", "",
       R"({"container.apparmor.security.beta.kubernetes.io/c":"localhost/x"})"},
      {"appArmorProfile", 0, secure(R"("appArmorProfile":{"type":"Unconfined"})"),
       R"(forbidden AppArmor profiles (containers "i", "c", "e" and annotation must not set )"
       R"(AppArmor profile type to "Unconfined", )"
       R"("container.apparmor.security.beta.kubernetes.io/c="unconfined""))",
       R"({"container.apparmor.security.beta.kubernetes.io/c":"unconfined"})"},
      {"seccompProfile_baseline", 18, unconfined, ""},
      {"seccompProfile_baseline", 18, R"({"containers":[{"name":"c"}]})",
       R"(seccompProfile (forbidden annotations )"
       R"(container.seccomp.security.alpha.kubernetes.io/c="unconfined", )"
       R"(seccomp.security.alpha.kubernetes.io/pod="unconfined"))",
       R"({"seccomp.security.alpha.kubernetes.io/pod":"unconfined",)"
       R"("container.seccomp.security.alpha.kubernetes.io/c":"unconfined",)"
       R"("container.seccomp.security.alpha.kubernetes.io/other":"unconfined"})"},
      {"seccompProfile_baseline", 18, "{}", "",
       R"({"seccomp.security.alpha.kubernetes.io/pod":"docker/default"})"},
      {"seccompProfile_baseline", 19, unconfined,
       R"(seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined"))"},
      {"seccompProfile_baseline", 19, secure(R"("seccompProfile":{"type":"Unconfined"})"),
       R"(seccompProfile (containers "i", "c", "e" must not set )"
       R"(securityContext.seccompProfile.type to "Unconfined"))"},
      {"seccompProfile_baseline", 19, secure(R"("seccompProfile":{"type":"RuntimeDefault"})"), ""},
  });
}

TEST_CASE("The controls of restricted demand that a pod gives up unneeded privileges",
          "[podsecurity]") {
  const auto plain = R"({"containers":[{"name":"c"}]})";
  const auto windows = R"({"os":{"name":"windows"},"containers":[{"name":"c"}]})";
  check_rows({
      {"allowPrivilegeEscalation", 8, secure(R"("allowPrivilegeEscalation":false)"), ""},
      {"allowPrivilegeEscalation", 8, plain,
       R"(allowPrivilegeEscalation != false (container "c" must set )"
       R"(securityContext.allowPrivilegeEscalation=false))"},
      {"allowPrivilegeEscalation", 24, windows,
       R"(allowPrivilegeEscalation != false (container "c" must set )"
       R"(securityContext.allowPrivilegeEscalation=false))"},
      {"allowPrivilegeEscalation", 25, windows, ""},
      {"capabilities_restricted", 22,
       secure(R"("capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]})"), ""},
      {"capabilities_restricted", 22, secure(R"("capabilities":{"drop":["KILL"],"add":["CHOWN"]})"),
       R"(unrestricted capabilities (containers "i", "c", "e" must set )"
       R"(securityContext.capabilities.drop=["ALL"]; containers "i", "c", "e" must not include )"
       R"("CHOWN" in securityContext.capabilities.add))"},
      {"capabilities_restricted", 24, windows,
       R"(unrestricted capabilities (container "c" must set )"
       R"(securityContext.capabilities.drop=["ALL"]))"},
      {"capabilities_restricted", 25, windows, ""},
      {"restrictedVolumes", 0,
       R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b","configMap":{"name":"x"}},)"
       R"({"name":"c","persistentVolumeClaim":{"claimName":"x"}},{"name":"d","csi":{"driver":"x"}},)"
       R"({"name":"e","downwardAPI":{}},{"name":"f","projected":{}},)"
       R"({"name":"g","secret":{"secretName":"x"}},{"name":"h","ephemeral":{}}]})",
       ""},
      {"restrictedVolumes", 0, R"({"volumes":[{"name":"a","hostPath":{"path":"/"}}]})",
       R"(restricted volume types (volume "a" uses restricted volume type "hostPath"))"},
      {"restrictedVolumes", 0,
       R"({"volumes":[{"name":"a","nfs":{"server":"s","path":"/"}},)"
       R"({"name":"b","image":{"reference":"x"}}]})",
       R"(restricted volume types (volumes "a", "b" use restricted volume types "nfs", "unknown"))"},
      {"runAsNonRoot", 0,
       R"({"securityContext":{"runAsNonRoot":true},"containers":[{"name":"c"}]})", ""},
      {"runAsNonRoot", 0, secure(R"("runAsNonRoot":true)"), ""},
      {"runAsNonRoot", 0, plain,
       R"(runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true))"},
      {"runAsNonRoot", 0,
       R"({"securityContext":{"runAsNonRoot":false},"containers":[{"name":"c",)"
       R"("securityContext":{"runAsNonRoot":false}}]})",
       R"(runAsNonRoot != true (pod and container "c" must not set )"
       R"(securityContext.runAsNonRoot=false))"},
      {"runAsUser", 23, secure(R"("runAsUser":1)"), ""},
      {"runAsUser", 23, plain, ""},
      {"runAsUser", 23, R"({"securityContext":{"runAsUser":0}})",
       "runAsUser=0 (pod must not set runAsUser=0)"},
      {"seccompProfile_restricted", 19, plain,
       R"(seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to )"
       R"("RuntimeDefault" or "Localhost"))"},
      {"seccompProfile_restricted", 19,
       R"({"securityContext":{"seccompProfile":{"type":"Localhost"}},"containers":[{"name":"c"}]})",
       ""},
      {"seccompProfile_restricted", 19, secure(R"("seccompProfile":{"type":"Unconfined"})"),
       R"(seccompProfile (containers "i", "c", "e" must not set )"
       R"(securityContext.seccompProfile.type to "Unconfined"))"},
      {"seccompProfile_restricted", 25, windows, ""},
  });
}

TEST_CASE("A version has the controls of its time", "[podsecurity]") {
  const auto ids = [](level of, int minor) {
    std::set<std::string_view> found;
    for (const auto& each : controls())
      if (each.level <= of && each.since <= minor) found.insert(each.id);
    return found;
  };
  CHECK(ids(level::baseline, 33).size() == 11);
  CHECK(ids(level::baseline, 34).size() == 12);
  CHECK(ids(level::restricted, 0).size() == 13);
  CHECK(ids(level::restricted, 33).size() == 17);
  CHECK(std::is_sorted(controls().begin(), controls().end(), [](const auto& a, const auto& b) {
    return std::tie(a.level, a.id, a.since) < std::tie(b.level, b.id, b.since);
  }));
}

TEST_CASE("Restricted lists each violation once, in upstream's order", "[podsecurity]") {
  const auto pod = pod_of(R"({"hostNetwork":true,"containers":[{"name":"c","securityContext":)"
                          R"({"privileged":true,"capabilities":{"add":["SYS_ADMIN"]}}}],)"
                          R"("volumes":[{"name":"v","hostPath":{"path":"/"}}]})");
  const subject seen{pod.metadata(), pod.spec()};
  CHECK(evaluate({level::privileged, {}}, seen).empty());
  CHECK(reasons_of(evaluate({level::baseline, {}}, seen)) ==
        "non-default capabilities, host namespaces, hostPath volumes, privileged");
  CHECK(reasons_of(evaluate({level::restricted, {}}, seen)) ==
        "host namespaces, privileged, allowPrivilegeEscalation != false, unrestricted "
        "capabilities, restricted volume types, runAsNonRoot != true, seccompProfile");
  // Before 1.22 the capabilities were those of baseline; an unknown newer version means the newest.
  CHECK(reasons_of(evaluate({level::restricted, {7}}, seen)) ==
        "non-default capabilities, host namespaces, privileged, restricted volume types, "
        "runAsNonRoot != true");
  CHECK(reasons_of(evaluate({level::restricted, {99}}, seen)) ==
        reasons_of(evaluate({level::restricted, {}}, seen)));
}

TEST_CASE("A pod that keeps restricted keeps it at each version", "[podsecurity]") {
  const auto pod = restricted_pod();
  for (int minor = 0; minor < 40; ++minor) {
    CAPTURE(minor);
    CHECK(details_of(evaluate({level::restricted, {minor}}, {pod.metadata(), pod.spec()})).empty());
  }
}

TEST_CASE("Labels name a level and a version for each mode, and fail closed", "[podsecurity]") {
  api::meta::v1::ObjectMeta meta;
  const policy defaults{.enforce = {level::baseline, {20}}, .audit = {}, .warn = {}};
  CHECK(policy_of(meta, defaults).policy == defaults);
  auto& labels = *meta.mutable_labels();
  labels["pod-security.kubernetes.io/enforce"] = "restricted";
  labels["pod-security.kubernetes.io/warn"] = "baseline";
  labels["pod-security.kubernetes.io/warn-version"] = "v1.25";
  auto read = policy_of(meta, defaults);
  CHECK(read.problems.empty());
  CHECK(to_string(read.policy) == "enforce=restricted:v1.20, warn=baseline:v1.25");
  labels["pod-security.kubernetes.io/enforce"] = "Restricted";
  labels["pod-security.kubernetes.io/enforce-version"] = "1.25";
  labels["pod-security.kubernetes.io/warn"] = "";
  labels["pod-security.kubernetes.io/audit-version"] = "v1.025";
  read = policy_of(meta, defaults);
  CHECK(to_string(read.policy) == "enforce=restricted:latest");
  REQUIRE(read.problems.size() == 4);
  CHECK(read.problems[0].field == "metadata.labels[pod-security.kubernetes.io/enforce]");
  CHECK(read.problems[0].message ==
        "Invalid value: \"Restricted\": must be one of privileged, baseline, restricted");
  CHECK(read.problems[1].message == "Invalid value: \"1.25\": must be \"latest\" or \"v1.x\"");
  for (const auto* text : {"v1.", "v1.-1", "v1.99999999999", "v2.1", "v1.1x", "Latest", ""})
    CHECK_FALSE(parse_version(text));
  CHECK(parse_version("v1.0") == version{0});
}

}  // namespace troupe::test
