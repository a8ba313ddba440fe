// The Pod Security Standards, compared with a simple second implementation: the restricted fields
// and their allowed values, as their documentation lists them, found by the names of the fields.
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <set>

#include "actors/write/pod_security/evaluate.hpp"
#include "actors/write/pod_security_fixture.hpp"

namespace troupe::test {

using namespace actors::pod_security;
using api::core::v1::PodSpec;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

namespace {

using found_value = std::optional<std::string>;  // nothing: the field is not set
using found_values = std::vector<found_value>;

std::string text_of(const Message& in, const FieldDescriptor& field, int index) {
  const auto& by = *in.GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return by.GetBool(in, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(by.GetInt32(in, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(by.GetInt64(in, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? by.GetRepeatedString(in, &field, index) : by.GetString(in, &field);
    default:
      return "set";
  }
}

// All values at a path of fields, e.g. "containers.ports.host_port".
void collect(const Message& in, std::string_view path, found_values& out) {
  const auto dot = path.find('.');
  const auto rest = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  const auto* field = in.GetDescriptor()->FindFieldByName(std::string{path.substr(0, dot)});
  if (field == nullptr) FAIL("no field " << path);
  const auto& by = *in.GetReflection();
  const int count = field->is_repeated() ? by.FieldSize(in, field) : 1;
  for (int i = 0; i < count; ++i) {
    if (!field->is_repeated() && !by.HasField(in, field)) return out.push_back(std::nullopt);
    if (rest.empty())
      out.push_back(text_of(in, *field, i));
    else
      collect(field->is_repeated() ? by.GetRepeatedMessage(in, field, i) : by.GetMessage(in, field),
              rest, out);
  }
}

found_values values_at(const PodSpec& spec, std::string_view path) {
  found_values out;
  collect(spec, path, out);
  return out;
}

found_values of_containers(const PodSpec& spec, const std::string& path) {
  found_values out;
  for (const auto* list :
       {"containers.", "init_containers.", "ephemeral_containers.ephemeral_container_common."})
    collect(spec, list + path, out);
  return out;
}

bool all_in(const found_values& values, const std::set<std::string>& allowed, bool or_absent) {
  return std::all_of(values.begin(), values.end(), [&](const found_value& value) {
    return value ? allowed.contains(*value) : or_absent;
  });
}

bool all_absent(const found_values& values) {
  return all_in(values, {}, true);
}

// The field of the pod and of each container.
bool both_in(const PodSpec& spec, const std::string& path, const std::set<std::string>& allowed) {
  return all_in(values_at(spec, "security_context." + path), allowed, true) &&
         all_in(of_containers(spec, "security_context." + path), allowed, true);
}

// Each container sets the field to an allowed value, or inherits an allowed one from its pod.
bool well_set(const PodSpec& spec, const std::string& path, const std::set<std::string>& allowed) {
  const bool pod = all_in(values_at(spec, "security_context." + path), allowed, false);
  return both_in(spec, path, allowed) &&
         all_in(of_containers(spec, "security_context." + path), allowed, pod);
}

bool keeps_baseline(const PodSpec& spec, int minor) {
  const std::set<std::string> profiles{"RuntimeDefault", "Localhost"};
  std::set<std::string> types{"", "container_t", "container_init_t", "container_kvm_t"};
  if (minor >= 31) types.insert("container_engine_t");
  std::set<std::string> sysctls{"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range",
                                "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
                                "net.ipv4.ip_unprivileged_port_start"};
  if (minor >= 27) sysctls.insert("net.ipv4.ip_local_reserved_ports");
  if (minor >= 32) sysctls.insert("net.ipv4.tcp_rmem");
  const std::set<std::string> capabilities{
      "AUDIT_WRITE", "CHOWN",      "DAC_OVERRIDE",    "FOWNER", "FSETID",
      "KILL",        "MKNOD",      "SETFCAP",         "SETGID", "SETPCAP",
      "SETUID",      "SYS_CHROOT", "NET_BIND_SERVICE"};
  const auto secured = [&](const std::string& path) {
    return of_containers(spec, "security_context." + path);
  };
  bool hosts = true;
  if (minor >= 34)
    for (const auto* handler :
         {"liveness_probe.handler", "readiness_probe.handler", "startup_probe.handler",
          "lifecycle.post_start", "lifecycle.pre_stop"})
      for (const auto* action : {".http_get.host", ".tcp_socket.host"})
        hosts = hosts && all_in(of_containers(spec, std::string{handler} + action), {""}, true);
  return hosts && all_in(values_at(spec, "host_network"), {"false"}, true) &&
         all_in(values_at(spec, "host_pid"), {"false"}, true) &&
         all_in(values_at(spec, "host_ipc"), {"false"}, true) &&
         all_in(secured("privileged"), {"false"}, true) &&
         all_in(secured("capabilities.add"), capabilities, true) &&
         all_absent(values_at(spec, "volumes.volume_source.host_path")) &&
         all_in(of_containers(spec, "ports.host_port"), {"0"}, true) &&
         both_in(spec, "app_armor_profile.type", profiles) &&
         both_in(spec, "se_linux_options.type", types) &&
         both_in(spec, "se_linux_options.user", {""}) &&
         both_in(spec, "se_linux_options.role", {""}) &&
         all_in(secured("proc_mount"), {"Default"}, true) &&
         (minor < 19 || both_in(spec, "seccomp_profile.type", profiles)) &&
         all_in(values_at(spec, "security_context.sysctls.name"), sysctls, true) &&
         both_in(spec, "windows_options.host_process", {"false"});
}

bool keeps_restricted(const PodSpec& spec, int minor) {
  const bool windows = minor >= 25 && spec.os().name() == "windows";
  const auto secured = [&](const std::string& path) {
    return of_containers(spec, "security_context." + path);
  };
  for (const auto* source : {"nfs", "image", "git_repo", "iscsi", "cephfs"})
    if (!all_absent(values_at(spec, std::string{"volumes.volume_source."} + source))) return false;
  if (minor >= 23 && (all_in(values_at(spec, "security_context.run_as_user"), {"0"}, false) ||
                      !all_in(secured("run_as_user"), {"1", "7"}, true)))
    return false;
  if (!well_set(spec, "run_as_non_root", {"true"})) return false;
  if (minor >= 8 && !windows && !all_in(secured("allow_privilege_escalation"), {"false"}, false))
    return false;
  if (minor >= 19 && !windows &&
      !well_set(spec, "seccomp_profile.type", {"RuntimeDefault", "Localhost"}))
    return false;
  if (minor < 22 || windows) return true;
  bool dropped = true;
  const auto look = [&](const auto& container) {
    const auto& drop = container.security_context().capabilities().drop();
    dropped = dropped && std::find(drop.begin(), drop.end(), "ALL") != drop.end();
  };
  for (const auto& container : spec.containers())
    look(container);
  for (const auto& container : spec.init_containers())
    look(container);
  for (const auto& container : spec.ephemeral_containers())
    look(container.ephemeral_container_common());
  return dropped && all_in(secured("capabilities.add"), {"NET_BIND_SERVICE"}, true);
}

// From 1.25 on, pods of Windows with the level restricted need not pass baseline's rules for
// capabilities and seccomp profiles.
bool second_reading(level of, const PodSpec& spec, int minor) {
  if (of == level::baseline) return keeps_baseline(spec, minor);
  if (!keeps_restricted(spec, minor)) return false;
  auto checked = spec;
  const auto forgive = [&](auto& container) {
    container.mutable_security_context()->mutable_capabilities()->clear_add();
    container.mutable_security_context()->clear_seccomp_profile();
  };
  if (minor >= 25 && spec.os().name() == "windows") {
    checked.mutable_security_context()->clear_seccomp_profile();
    for (auto& container : *checked.mutable_containers())
      forgive(container);
    for (auto& container : *checked.mutable_init_containers())
      forgive(container);
    for (auto& container : *checked.mutable_ephemeral_containers())
      forgive(*container.mutable_ephemeral_container_common());
  }
  return keeps_baseline(checked, minor);
}

// -- random pods: near to what is allowed, else nothing but refusals would be compared
// -------------

struct dice {
  std::mt19937_64 random;

  bool once_in(unsigned n) { return random() % n == 0; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[random() % all.size()];
  }
};

template <class Security>
void draw_shared(dice& d, Security& into) {
  if (d.once_in(2)) into.set_run_as_non_root(!d.once_in(12));
  if (d.once_in(6)) into.set_run_as_user(d.one_of({0, 1, 7}));
  if (d.once_in(2))
    into.mutable_seccomp_profile()->set_type(
        d.one_of({"RuntimeDefault", "Localhost", "RuntimeDefault", "Unconfined"}));
  if (d.once_in(8))
    into.mutable_app_armor_profile()->set_type(d.one_of({"RuntimeDefault", "Unconfined"}));
  if (d.once_in(8)) {
    auto& options = *into.mutable_se_linux_options();
    options.set_type(d.one_of({"", "container_t", "container_engine_t", "spc_t"}));
    if (d.once_in(6)) options.set_user("u");
    if (d.once_in(6)) options.set_role("r");
  }
  if (d.once_in(12)) into.mutable_windows_options()->set_host_process(d.once_in(2));
}

template <class Container>
void draw_container(dice& d, Container& into) {
  into.set_name("c" + std::to_string(d.random() % 4));
  auto& security = *into.mutable_security_context();
  draw_shared(d, security);
  if (!d.once_in(8)) security.set_allow_privilege_escalation(d.once_in(12));
  if (!d.once_in(8)) security.mutable_capabilities()->add_drop(d.one_of({"ALL", "ALL", "KILL"}));
  if (d.once_in(6))
    security.mutable_capabilities()->add_add(
        d.one_of({"NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN", "NET_RAW"}));
  if (d.once_in(10)) security.set_privileged(d.once_in(2));
  if (d.once_in(10)) security.set_proc_mount(d.one_of({"Default", "Unmasked"}));
  if (d.once_in(8)) into.add_ports()->set_host_port(d.one_of({0, 80}));
  if (d.once_in(12))
    into.mutable_startup_probe()->mutable_handler()->mutable_http_get()->set_host(
        d.one_of({"", "h"}));
  if (d.once_in(12))
    into.mutable_lifecycle()->mutable_pre_stop()->mutable_tcp_socket()->set_host("h");
}

PodSpec draw_spec(dice& d) {
  PodSpec spec;
  if (d.once_in(20)) spec.set_host_network(d.once_in(2));
  if (d.once_in(20)) spec.set_host_pid(true);
  if (d.once_in(20)) spec.set_host_ipc(true);
  if (d.once_in(6)) spec.mutable_os()->set_name(d.one_of({"windows", "linux"}));
  draw_shared(d, *spec.mutable_security_context());
  if (d.once_in(6))
    spec.mutable_security_context()->add_sysctls()->set_name(
        d.one_of({"kernel.msgmax", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_rmem",
                  "net.ipv4.ip_local_reserved_ports"}));
  draw_container(d, *spec.add_containers());
  if (d.once_in(4)) draw_container(d, *spec.add_containers());
  if (d.once_in(4)) draw_container(d, *spec.add_init_containers());
  if (d.once_in(4))
    draw_container(d, *spec.add_ephemeral_containers()->mutable_ephemeral_container_common());
  if (d.once_in(4)) {
    auto& source = *spec.add_volumes()->mutable_volume_source();
    switch (d.random() % 5) {
      case 0:
        source.mutable_host_path();
        break;
      case 1:
        source.mutable_nfs();
        break;
      case 2:
        source.mutable_image();
        break;
      default:
        source.mutable_empty_dir();
        break;
    }
  }
  return spec;
}

}  // namespace

TEST_CASE("Each verdict on a random pod is that of a second reading of the standards",
          "[podsecurity][property]") {
  std::array<std::array<int, 2>, 2> seen{};
  dice d{std::mt19937_64{2'026}};
  for (int i = 0; i < 20'000; ++i) {
    const auto spec = draw_spec(d);
    const auto minor = static_cast<int>(d.random() % 36);
    const api::meta::v1::ObjectMeta meta;
    for (const auto of : {level::baseline, level::restricted}) {
      const bool keeps = second_reading(of, spec, minor);
      const auto found = evaluate({of, {minor}}, {meta, spec});
      ++seen[of == level::restricted][keeps];
      if (found.empty() == keeps) continue;
      CAPTURE(i, minor, to_string(of), keeps, details_of(found), spec.DebugString());
      FAIL("the two readings differ");
    }
  }
  // Both verdicts were compared often.
  for (const auto& of_level : seen)
    for (const auto count : of_level)
      CHECK(count > 100);
}

}  // namespace troupe::test
