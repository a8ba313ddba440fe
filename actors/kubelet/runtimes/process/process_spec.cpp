#include "actors/kubelet/runtimes/process/process_spec.hpp"

#include <fmt/format.h>

#include <set>

#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/security/security_context.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Container;
using api::core::v1::Pod;

// Volumes that cannot be mounted are used at their paths on the node. A container with its own root
// sees nothing else of the node's data (container_root.hpp).
std::vector<container_mount> mounts_in_place(const std::vector<container_mount>& mounts) {
  std::vector<container_mount> out;
  std::set<std::string> known;  // a volume may be mounted several times
  for (const auto& mount : mounts)
    if (mount.own && known.insert(mount.source).second)
      out.push_back({mount.source, {}, mount.source, mount.read_only, true});
  return out;
}

// Empty: the pod uses the machine's.
std::string resolver_text(const Pod& pod, const process_machine& machine) {
  const auto& spec = pod.spec();
  const bool own = spec.dns_policy() == "None" || spec.has_dns_config() || wants_cluster_dns(pod);
  if (!own || machine.cluster.address.empty() || !machine.mounts_volumes) return {};
  return resolv_conf_of(resolver_of(pod, machine.resolver, machine.cluster));
}

}  // namespace

resource_limits limits_of(const Container& container) {
  const auto find = [](const auto& of, const char* name) -> std::optional<api::quantity> {
    const auto found = of.find(name);
    if (found == of.end()) return std::nullopt;
    auto amount = api::quantity::parse(found->second.string());
    return amount ? std::optional{*amount} : std::nullopt;
  };
  const auto& resources = container.resources();
  resource_limits out;
  if (const auto memory = find(resources.limits(), "memory")) out.memory_bytes = memory->value();
  if (const auto cpu = find(resources.limits(), "cpu")) out.milli_cpu = cpu->milli_value();
  if (const auto cpu = find(resources.requests(), "cpu"))
    out.requested_milli_cpu = cpu->milli_value();
  return out;
}

runtime_result<container_spec> process_spec(const container_config& config,
                                            const process_machine& machine) {
  const auto& pod = config.pod->as<Pod>();
  if (!config.devices.empty())
    return tl::make_unexpected(runtime_error{
        runtime_error::kind::refused,
        fmt::format("container \"{}\" has volumeDevices: the process runtime has no raw "
                    "devices for containers; use an image runtime",
                    config.spec->name()),
        "CreateContainerConfigError"});
  auto security = security_of(pod, *config.spec, machine.rights);
  if (!security)
    return tl::make_unexpected(runtime_error{runtime_error::kind::refused, security.error(),
                                             "CreateContainerConfigError"});
  security->hidden = machine.hidden;
  container_spec spec{.command = config.command, .environment = config.environment};
  // Arguments alone are the program, as in an image without an entry point.
  spec.command.insert(spec.command.end(), config.arguments.begin(), config.arguments.end());
  spec.working_dir = config.spec->working_dir();
  spec.open_stdin = config.spec->stdin();
  spec.stdin_once = config.spec->stdin_once();
  spec.tty = config.spec->tty();
  if (machine.mounts_volumes)
    spec.mounts = config.mounts;
  else if (machine.rights.confined_by != confinement::none)
    spec.mounts = mounts_in_place(config.mounts);
  order_mounts(spec.mounts);
  spec.resolver = resolver_text(pod, machine);
  spec.limits = limits_of(*config.spec);
  spec.limits.pod_pids = machine.pod_pids_limit;
  spec.log = machine.log;
  spec.image = config.spec->image();
  spec.security = std::move(*security);
  return spec;
}

std::optional<runtime_error> needs_image(const Container& container) {
  if (!container.command().empty() || !container.args().empty()) return std::nullopt;
  return runtime_error{
      runtime_error::kind::refused,
      fmt::format("container \"{}\" has neither command nor args: the process runtime "
                  "runs programs of this machine and cannot run image \"{}\"; set "
                  "command, or use an image runtime",
                  container.name(), container.image()),
      "ImageRuntimeRequired"};
}

}  // namespace troupe::actors
