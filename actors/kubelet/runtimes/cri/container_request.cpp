#include "actors/kubelet/runtimes/cri/container_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/security/security_context.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::SecurityContext;

namespace {

template <class Map>
std::optional<api::quantity> amount(const Map& of, const char* name) {
  const auto found = of.find(name);
  if (found == of.end()) return std::nullopt;
  return api::quantity::parse(found->second.string());
}

std::int64_t oom_score(const Pod& pod, std::int64_t requested_bytes, std::int64_t node_bytes) {
  if (pod.status().qos_class() == "Guaranteed") return cri_defaults::guaranteed_oom_score;
  if (pod.status().qos_class() == "BestEffort" || node_bytes <= 0)
    return cri_defaults::best_effort_oom_score;
  const auto part = static_cast<std::int64_t>(1000.0 * static_cast<double>(requested_bytes) /
                                              static_cast<double>(node_bytes));
  return std::clamp<std::int64_t>(1000 - part, 1000 + cri_defaults::guaranteed_oom_score,
                                  cri_defaults::best_effort_oom_score - 1);
}

cri::SecurityProfile seccomp_of(const SecurityContext& context, const cri_node& node) {
  cri::SecurityProfile out;
  const auto& profile = context.seccomp_profile();
  if (profile.type() == "RuntimeDefault") {
    out.set_profile_type(cri::SecurityProfile::RuntimeDefault);
  } else if (profile.type() == "Localhost") {
    out.set_profile_type(cri::SecurityProfile::Localhost);
    out.set_localhost_ref(node.root_dir / "seccomp" / profile.localhost_profile());
  } else {
    out.set_profile_type(cri::SecurityProfile::Unconfined);
  }
  return out;
}

// Masked and read-only paths of /proc and /sys (kubernetes: securitycontext/util.go).
void hide_paths(const SecurityContext& context, cri::LinuxContainerSecurityContext& out) {
  if (context.proc_mount() == "Unmasked") return;
  for (const auto* path :
       {"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys",
        "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
        "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"})
    out.add_masked_paths(path);
  for (const auto* path :
       {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"})
    out.add_readonly_paths(path);
}

void set_security(const Pod& pod, const SecurityContext& context, const cri_node& node,
                  const image_user& image, cri::LinuxContainerSecurityContext& out) {
  out.set_privileged(context.privileged());
  *out.mutable_namespace_options() = namespaces_of(pod);
  if (context.has_run_as_user())
    out.mutable_run_as_user()->set_value(context.run_as_user());
  else if (image.uid)
    out.mutable_run_as_user()->set_value(*image.uid);
  else
    out.set_run_as_username(image.name);
  if (context.has_run_as_group()) out.mutable_run_as_group()->set_value(context.run_as_group());
  const auto& of_pod = pod.spec().security_context();
  if (of_pod.has_fs_group()) out.add_supplemental_groups(of_pod.fs_group());
  for (const auto group : of_pod.supplemental_groups())
    out.add_supplemental_groups(group);
  out.set_readonly_rootfs(context.read_only_root_filesystem());
  out.set_no_new_privs(context.has_allow_privilege_escalation() &&
                       !context.allow_privilege_escalation());
  for (const auto& name : context.capabilities().add())
    out.mutable_capabilities()->add_add(name);
  for (const auto& name : context.capabilities().drop())
    out.mutable_capabilities()->add_drop(name);
  if (context.has_se_linux_options())
    *out.mutable_selinux_options() = se_linux_of(context.se_linux_options());
  *out.mutable_seccomp() = seccomp_of(context, node);
  if (context.has_app_armor_profile())
    *out.mutable_apparmor() = app_armor_of(context.app_armor_profile());
  out.set_supplemental_groups_policy(groups_policy(of_pod));
  hide_paths(context, out);
}

void add_mount(cri::ContainerConfig& out, const std::string& from, const std::string& to,
               bool read_only = false) {
  auto& mount = *out.add_mounts();
  mount.set_host_path(from);
  mount.set_container_path(to);
  mount.set_readonly(read_only);
}

tl::expected<void, std::string> set_mounts(const container_config& config, const cri_node& node,
                                           const container_files_of_pod& files,
                                           cri::ContainerConfig& out) {
  bool own_hosts = false;
  for (const auto& each : config.mounts) {
    add_mount(out, each.source, each.target, each.read_only);
    own_hosts |= each.target == "/etc/hosts";
    const auto& all = config.spec->volume_mounts();
    const auto wanted = std::find_if(all.begin(), all.end(), [&](const auto& mount) {
      return mount.mount_path() == each.target;
    });
    if (wanted == all.end()) continue;
    auto& mount = *out.mutable_mounts(out.mounts_size() - 1);
    if (wanted->mount_propagation() == "HostToContainer")
      mount.set_propagation(cri::HOST_TO_CONTAINER);
    if (wanted->mount_propagation() == "Bidirectional") mount.set_propagation(cri::BIDIRECTIONAL);
    const auto& recursive = wanted->recursive_read_only();
    if (recursive == "Enabled" && !node.recursive_read_only)
      return tl::make_unexpected(
          fmt::format("failed to resolve recursive read-only mode: volume \"{}\" requested "
                      "recursive read-only mode, but it is not supported by the runtime",
                      wanted->name()));
    mount.set_recursive_read_only(node.recursive_read_only && mount.readonly() &&
                                  (recursive == "Enabled" || recursive == "IfPossible"));
  }
  if (!files.hosts.empty() && !own_hosts) add_mount(out, files.hosts, "/etc/hosts");
  if (!files.termination_message.empty())
    add_mount(out, files.termination_message, config.spec->termination_message_path());
  return {};
}

}  // namespace

tl::expected<void, std::string> check_user(const Pod& pod, const Container& container,
                                           const image_user& image) {
  const auto context = effective_context(pod, container);
  if (!context.run_as_non_root()) return {};
  const auto refuse = [&](const std::string& reason) {
    return tl::make_unexpected(fmt::format("{} (pod: \"{}_{}({})\", container: {})", reason,
                                           pod.metadata().name(), pod.metadata().namespace_(),
                                           pod.metadata().uid(), container.name()));
  };
  if (context.has_run_as_user()) {
    if (context.run_as_user() == 0) return refuse("container's runAsUser breaks non-root policy");
    return {};
  }
  if (image.uid && *image.uid == 0)
    return refuse("container has runAsNonRoot and image will run as root");
  if (!image.uid && !image.name.empty())
    return refuse(
        fmt::format("container has runAsNonRoot and image has non-numeric user ({}), "
                    "cannot verify user is non-root",
                    image.name));
  return {};
}

cri::LinuxContainerResources resources_of(const Pod& pod, const Container& container,
                                          std::int64_t node_memory_bytes) {
  const auto& limits = container.resources().limits();
  const auto& requests = container.resources().requests();
  cri::LinuxContainerResources out;
  const auto cpu_limit = amount(limits, "cpu");
  auto cpu_request = amount(requests, "cpu");
  if (!cpu_request) cpu_request = cpu_limit;
  const auto shares =
      cpu_request ? cpu_request->milli_value() * cri_defaults::shares_of_one / 1000 : 0;
  out.set_cpu_shares(std::max(shares, cri_defaults::smallest_shares));
  if (cpu_limit) {
    out.set_cpu_period(cri_defaults::cpu_period_us);
    out.set_cpu_quota(std::max(cpu_limit->milli_value() * cri_defaults::cpu_period_us / 1000,
                               cri_defaults::smallest_quota_us));
  }
  const auto memory_limit = amount(limits, "memory");
  if (memory_limit) out.set_memory_limit_in_bytes(memory_limit->value());
  auto memory_request = amount(requests, "memory");
  if (!memory_request) memory_request = memory_limit;
  out.set_oom_score_adj(
      oom_score(pod, memory_request ? memory_request->value() : 0, node_memory_bytes));
  return out;
}

runtime_result<cri::ContainerConfig> container_request(const container_config& config,
                                                       const cri_node& node,
                                                       const image_user& image,
                                                       const container_files_of_pod& files) {
  const auto& pod = config.pod->as<Pod>();
  const auto refuse = [](std::string message) {
    return tl::make_unexpected(runtime_error{runtime_error::kind::refused, std::move(message),
                                             "CreateContainerConfigError"});
  };
  if (const auto allowed = check_user(pod, *config.spec, image); !allowed)
    return refuse(allowed.error());
  if (pod.spec().has_host_users() && !pod.spec().host_users())
    return refuse("hostUsers false cannot be honoured: the runtime does not say that it can");
  cri::ContainerConfig out;
  out.mutable_metadata()->set_name(config.spec->name());
  out.mutable_metadata()->set_attempt(static_cast<std::uint32_t>(config.attempt));
  out.mutable_image()->set_image(config.image_ref);
  out.mutable_image()->set_user_specified_image(config.spec->image());
  out.mutable_command()->Assign(config.command.begin(), config.command.end());
  out.mutable_args()->Assign(config.arguments.begin(), config.arguments.end());
  out.set_working_dir(config.spec->working_dir());
  for (const auto& variable : config.environment) {
    const auto end = variable.find('=');
    auto& env = *out.add_envs();
    env.set_key(variable.substr(0, end));
    if (end != variable.npos) env.set_value(variable.substr(end + 1));
  }
  if (const auto set = set_mounts(config, node, files, out); !set) return refuse(set.error());
  for (const auto& each : config.devices) {
    auto& device = *out.add_devices();
    device.set_host_path(each.source);
    device.set_container_path(each.target);
    device.set_permissions(each.read_only ? "r" : "mrw");
  }
  auto& labels = *out.mutable_labels();
  labels[cri_labels::container_name] = config.spec->name();
  labels[cri_labels::pod_name] = pod.metadata().name();
  labels[cri_labels::pod_namespace] = pod.metadata().namespace_();
  labels[cri_labels::pod_uid] = pod.metadata().uid();
  auto& notes = *out.mutable_annotations();
  notes[cri_annotations::restart_count] = std::to_string(config.attempt);
  notes[cri_annotations::image] = config.spec->image();
  notes[cri_annotations::message_file] = files.termination_message;
  notes[cri_annotations::termination_policy] = config.spec->termination_message_policy();
  out.set_log_path(fmt::format("{}/{}.log", config.spec->name(), config.attempt));
  out.set_stdin(config.spec->stdin());
  out.set_stdin_once(config.spec->stdin_once());
  out.set_tty(config.spec->tty());
  auto& linux = *out.mutable_linux();
  *linux.mutable_resources() = resources_of(pod, *config.spec, node.memory_bytes);
  set_security(pod, effective_context(pod, *config.spec), node, image,
               *linux.mutable_security_context());
  auto& namespaces = *linux.mutable_security_context()->mutable_namespace_options();
  if (!config.target.empty() && namespaces.pid() == cri::CONTAINER) {
    namespaces.set_pid(cri::TARGET);
    namespaces.set_target_id(config.target.substr(config.target.find("://") + 3));
  }
  return out;
}

}  // namespace troupe::actors
