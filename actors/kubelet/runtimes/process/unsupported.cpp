#include "actors/kubelet/runtimes/process/unsupported.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "actors/kubelet/volumes/volume_content.hpp"

namespace troupe::actors {

namespace {

using namespace api::core::v1;

class finder {
 public:
  explicit finder(bool limits_are_kept) : limits_kept{limits_are_kept} {}

  const bool limits_kept;
  std::vector<std::string> found;

  void when(bool asked, std::string feature) {
    if (asked) found.push_back(std::move(feature));
  }

  void look_at(const Container& container, const std::string& at) {
    for (const auto& [name, amount] : container.resources().limits())
      when(!limits_kept || (name != "cpu" && name != "memory"),
           fmt::format("{}.resources.limits[{}]", at, name));
    for (const auto& mount : container.volume_mounts()) {
      const auto& propagation = mount.mount_propagation();
      when(!propagation.empty() && propagation != "None",
           fmt::format("{}.volumeMounts{{{}}}.mountPropagation", at, mount.name()));
      when(mount.recursive_read_only() == "Enabled",
           fmt::format("{}.volumeMounts{{{}}}.recursiveReadOnly", at, mount.name()));
    }
    when(container.lifecycle().has_stop_signal(), at + ".lifecycle.stopSignal");
    const auto& message = container.termination_message_path();
    when(!message.empty() && message != "/dev/termination-log", at + ".terminationMessagePath");
    when(container.termination_message_policy() == "FallbackToLogsOnError",
         at + ".terminationMessagePolicy");
  }
};

}  // namespace

std::vector<std::string> unsupported_features(const Pod& pod, bool limits_kept, bool own_resolver) {
  finder out{limits_kept};
  const auto& spec = pod.spec();
  out.when(spec.host_aliases_size() != 0, "spec.hostAliases");
  out.when(!spec.subdomain().empty(), "spec.subdomain");
  out.when(spec.set_hostname_as_fqdn(), "spec.setHostnameAsFQDN");
  out.when(spec.has_dns_config() && !own_resolver, "spec.dnsConfig");
  out.when(spec.share_process_namespace(), "spec.shareProcessNamespace");
  out.when(spec.ephemeral_containers_size() != 0, "spec.ephemeralContainers");
  out.when(!spec.runtime_class_name().empty(), "spec.runtimeClassName");
  out.when(spec.resource_claims_size() != 0, "spec.resourceClaims");
  for (auto& source : unsupported_sources(pod))
    out.found.push_back(std::move(source));
  for (const auto& container : spec.init_containers())
    out.look_at(container, fmt::format("spec.initContainers{{{}}}", container.name()));
  for (const auto& container : spec.containers())
    out.look_at(container, fmt::format("spec.containers{{{}}}", container.name()));
  return out.found;
}

}  // namespace troupe::actors
