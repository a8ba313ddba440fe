// The containers of a pod.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/validation/checks.hpp"
#include "api/validation/security.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

void check_ports(field_errors& out, const Container& container, bool host_network) {
  std::set<std::string_view> names;
  for (int i = 0; i < container.ports_size(); ++i) {
    const auto step = out.at.item("ports", i);
    const auto& port = container.ports(i);
    if (!port.name().empty() && !names.insert(port.name()).second)
      out.duplicate("name", port.name());
    if (host_network && port.host_port() != port.container_port())
      out.invalid("hostPort", port.host_port(),
                  "must match `containerPort` when `hostNetwork` is true");
    if (!port.host_ip().empty()) out.each("hostIP", port.host_ip(), check_ip(port.host_ip()));
  }
}

const VolumeSource* find_volume(const PodSpec& spec, const std::string& name) {
  for (const auto& volume : spec.volumes())
    if (volume.name() == name) return &volume.volume_source();
  return nullptr;
}

const std::string& path_of(const VolumeMount& mount) {
  return mount.mount_path();
}

const std::string& path_of(const VolumeDevice& device) {
  return device.device_path();
}

// A container does not use a volume, or a path, for a mount and a device.
template <class One, class Others>
void check_overlap(field_errors& out, std::string_view path_field, const One& one,
                   std::string_view list, const Others& others) {
  const auto any = [&](const auto& is_same) {
    return std::any_of(others.begin(), others.end(), is_same);
  };
  if (any([&](const auto& other) { return other.name() == one.name(); }))
    out.invalid("name", one.name(), fmt::format("must not already exist in {}", list));
  if (any([&](const auto& other) { return path_of(other) == path_of(one); }))
    out.invalid(path_field, path_of(one),
                fmt::format("must not already exist as a path in {}", list));
}

void check_mounts(field_errors& out, const PodSpec& spec, const Container& container) {
  std::set<std::string_view> paths;
  for (int i = 0; i < container.volume_mounts_size(); ++i) {
    const auto step = out.at.item("volumeMounts", i);
    const auto& mount = container.volume_mounts(i);
    if (!mount.name().empty() && !find_volume(spec, mount.name()))
      out.not_found("name", mount.name());
    if (!paths.insert(mount.mount_path()).second)
      out.invalid("mountPath", mount.mount_path(), "must be unique");
    check_overlap(out, "mountPath", mount, "volumeDevices", container.volume_devices());
    if (!mount.sub_path().empty()) check_descending(out, "subPath", mount.sub_path());
    if (mount.sub_path_expr().empty()) continue;
    if (!mount.sub_path().empty())
      out.invalid("subPathExpr", mount.sub_path_expr(),
                  "subPathExpr and subPath are mutually exclusive");
    check_descending(out, "subPathExpr", mount.sub_path_expr());
  }
}

void check_devices(field_errors& out, const PodSpec& spec, const Container& container) {
  std::set<std::string_view> names, paths;
  for (int i = 0; i < container.volume_devices_size(); ++i) {
    const auto step = out.at.item("volumeDevices", i);
    const auto& device = container.volume_devices(i);
    const auto* source = find_volume(spec, device.name());
    if (!source)
      out.not_found("name", device.name());
    else if (!source->has_persistent_volume_claim() && !source->has_ephemeral())
      out.invalid("name", device.name(),
                  "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                  "mode");
    if (!names.insert(device.name()).second) out.invalid("name", device.name(), "must be unique");
    const auto& path = device.device_path();
    if (!paths.insert(path).second) out.invalid("devicePath", path, "must be unique");
    if (("/" + path + "/").find("/../") != std::string::npos)
      out.invalid("devicePath", path, "can not contain backsteps ('..')");
    check_overlap(out, "devicePath", device, "volumeMounts", container.volume_mounts());
  }
}

void check_security(field_errors& out, const PodSpec& spec, const Container& container) {
  if (!container.has_security_context()) return;
  const auto& context = container.security_context();
  const auto step = out.at.field("securityContext");
  check_profiles(out, context);
  if (context.proc_mount() == "Unmasked" && (!spec.has_host_users() || spec.host_users()))
    out.invalid("procMount", context.proc_mount(), "`hostUsers` must be false to use `Unmasked`");
  if (!context.has_allow_privilege_escalation() || context.allow_privilege_escalation()) return;
  if (context.privileged())
    out.invalid("allowPrivilegeEscalation", false,
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  for (const auto& capability : context.capabilities().add())
    if (capability == "CAP_SYS_ADMIN" || capability == "SYS_ADMIN")
      out.invalid("allowPrivilegeEscalation", false,
                  "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                  "CAP_SYS_ADMIN");
}

void check_restart_policy(field_errors& out, const Container& container, container_role role) {
  if (!container.has_restart_policy()) return;
  if (role == container_role::main)
    out.forbidden("restartPolicy", "may not be set for non-init containers");
  else if (role == container_role::ephemeral)
    out.forbidden("restartPolicy", "cannot be set for an Ephemeral Container");
  else if (container.restart_policy() != "Always")
    out.unsupported("restartPolicy", container.restart_policy(),
                    std::initializer_list<std::string_view>{"Always"});
}

void check_resize_policy(field_errors& out, const PodSpec& spec, const Container& container) {
  std::set<std::string_view> names;
  for (int i = 0; i < container.resize_policy_size(); ++i) {
    const auto& policy = container.resize_policy(i);
    if (!names.insert(policy.resource_name()).second) {
      const auto step = out.at.item("resizePolicy", i);
      out.duplicate({}, policy.resource_name());
    }
    if (spec.restart_policy() == "Never" && policy.restart_policy() == "RestartContainer")
      out.invalid("resizePolicy", policy.restart_policy(),
                  "must be 'NotRequired' when `restartPolicy` is 'Never'");
  }
}

// A host port cannot be used twice; `taken` has those of other containers.
void check_host_ports(field_errors& out, const Container& container, std::set<std::string>& taken) {
  for (int i = 0; i < container.ports_size(); ++i) {
    const auto& port = container.ports(i);
    if (port.host_port() == 0) continue;
    auto place = port.protocol() + "/" + port.host_ip() + "/" + std::to_string(port.host_port());
    const auto step = out.at.item("ports", i);
    if (!taken.insert(place).second) out.duplicate("hostPort", place);
  }
}

// Allows only fields that the kubelet can add to a running pod.
void check_ephemeral(field_errors& out, const Container& container) {
  constexpr std::string_view detail = "cannot be set for an Ephemeral Container";
  if (!container.ports().empty()) out.forbidden("ports", detail);
  if (container.has_lifecycle()) out.forbidden("lifecycle", detail);
  if (container.has_liveness_probe()) out.forbidden("livenessProbe", detail);
  if (container.has_readiness_probe()) out.forbidden("readinessProbe", detail);
  if (container.has_startup_probe()) out.forbidden("startupProbe", detail);
  if (!container.resources().limits().empty() || !container.resources().requests().empty())
    out.forbidden("resources", detail);
  if (!container.resize_policy().empty()) out.forbidden("resizePolicy", detail);
}

}  // namespace

void check_container(field_errors& out, const PodSpec& spec, const Container& container,
                     container_role role) {
  const auto& image = container.image();
  if (!image.empty() && (image.front() == ' ' || image.back() == ' '))
    out.invalid("image", image, "must not have leading or trailing whitespace");
  check_restart_policy(out, container, role);
  check_env(out, container);
  check_mounts(out, spec, container);
  check_devices(out, spec, container);
  check_security(out, spec, container);
  if (role == container_role::ephemeral) return check_ephemeral(out, container);
  check_ports(out, container, spec.host_network());
  check_probes(out, container,
               role == container_role::main || container.restart_policy() == "Always");
  check_resources(out, "resources", container.resources());
  check_resize_policy(out, spec, container);
}

void check_containers(field_errors& out, const PodSpec& spec) {
  std::set<std::string_view> names;
  std::set<std::string> host_ports;
  const auto check = [&](const auto& list, std::string_view field, container_role role) {
    for (int i = 0; i < list.size(); ++i) {
      const auto step = out.at.item(field, i);
      if (!list[i].name().empty() && !names.insert(list[i].name()).second)
        out.duplicate("name", list[i].name());
      check_container(out, spec, list[i], role);
      // Init containers run one after the other (kubernetes: validateContainers).
      if (role == container_role::init) host_ports.clear();
      check_host_ports(out, list[i], host_ports);
    }
  };
  check(spec.containers(), "containers", container_role::main);
  check(spec.init_containers(), "initContainers", container_role::init);
}

void check_ephemeral_containers(field_errors& out, const PodSpec& spec) {
  std::set<std::string> names;
  for (const auto& one : spec.containers())
    names.insert(one.name());
  const auto targets = names;
  for (const auto& one : spec.init_containers())
    names.insert(one.name());
  for (int i = 0; i < spec.ephemeral_containers_size(); ++i) {
    const auto step = out.at.item("ephemeralContainers", i);
    const auto& one = spec.ephemeral_containers(i);
    // Both messages have the same fields and numbers: one function checks both.
    Container common;
    common.ParseFromString(one.ephemeral_container_common().SerializeAsString());
    if (!names.insert(common.name()).second) out.duplicate("name", common.name());
    const auto& target = one.target_container_name();
    if (!target.empty() && !targets.contains(target)) out.not_found("targetContainerName", target);
    check_container(out, spec, common, container_role::ephemeral);
  }
}

}  // namespace troupe::api::validation
