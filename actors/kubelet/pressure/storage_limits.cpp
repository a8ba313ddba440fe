#include "actors/kubelet/pressure/storage_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/pressure/pressure_rules.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "api/object/pod_resources.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::Volume;

constexpr const char* resource = "ephemeral-storage";

std::optional<api::quantity> size_limit(const Volume& volume) {
  const auto limit = api::quantity::parse(volume.volume_source().empty_dir().size_limit().string());
  return limit && limit->sign() > 0 ? limit : std::nullopt;
}

std::optional<api::quantity> limit_of(const Container& container) {
  const auto& limits = container.resources().limits();
  const auto found = limits.find(resource);
  return found == limits.end() ? std::nullopt : api::quantity::parse(found->second.string());
}

// kubernetes: volume/util, IsLocalEphemeralVolume.
bool is_local(const Volume& volume) {
  const auto& source = volume.volume_source();
  return source.has_config_map() || source.has_downward_api() ||
         (source.has_empty_dir() && source.empty_dir().medium().empty());
}

std::int64_t bytes_of(const std::filesystem::path& path) {
  return usage_beneath(path, kubelet_defaults::measured_files).bytes;
}

std::int64_t used(const std::map<std::string, std::int64_t>& by_name, const std::string& name) {
  const auto found = by_name.find(name);
  return found == by_name.end() ? 0 : found->second;
}

}  // namespace

bool has_storage_limits(const Pod& pod) {
  const auto& volumes = pod.spec().volumes();
  return !is_critical(pod) &&
         (limits_containers(pod) || std::any_of(volumes.begin(), volumes.end(), size_limit));
}

bool limits_containers(const Pod& pod) {
  return api::pod_limits(pod.spec()).contains(resource);
}

std::optional<pod_failure> over_limit(const Pod& pod, const storage_usage& usage) {
  const auto evicted = [](std::string message) {
    return pod_failure{"Evicted", std::move(message), kubelet_defaults::eviction_grace};
  };
  for (const auto& volume : pod.spec().volumes())
    if (const auto limit = size_limit(volume);
        limit && used(usage.empty_dirs, volume.name()) > limit->value())
      return evicted(fmt::format("Usage of EmptyDir volume \"{}\" exceeds the limit \"{}\". ",
                                 volume.name(), limit->str()));
  const auto limits = api::pod_limits(pod.spec());
  if (const auto limit = limits.find(resource);
      limit != limits.end() && usage.pod > limit->second.value())
    return evicted(
        fmt::format("Pod ephemeral local storage usage exceeds the total limit of containers {}. ",
                    limit->second.str()));
  for (const auto& container : pod.spec().containers())
    if (const auto limit = limit_of(container);
        limit && !limit->is_zero() && used(usage.containers, container.name()) > limit->value())
      return evicted(fmt::format("Container {} exceeded its local ephemeral storage limit \"{}\". ",
                                 container.name(), limit->str()));
  return std::nullopt;
}

storage_usage read_storage(const Pod& pod, const std::filesystem::path& pod_dir,
                           const std::vector<layer_usage>& layers) {
  storage_usage usage;
  const bool whole = limits_containers(pod);
  for (const auto& volume : pod.spec().volumes()) {
    const bool counts = whole && is_local(volume);
    if (!counts && !size_limit(volume)) continue;
    const auto bytes = bytes_of(pod_dir / "volumes" / volume_path(volume));
    if (size_limit(volume)) usage.empty_dirs[volume.name()] = bytes;
    if (counts) usage.pod += bytes;
  }
  if (!whole) return usage;
  const auto add_log = [&](const std::string& container) {
    const auto bytes = bytes_of(pod_dir / "logs" / container);
    usage.containers[container] += bytes;
    usage.pod += bytes;
  };
  for (const auto& each : pod.spec().init_containers())
    add_log(each.name());
  for (const auto& each : pod.spec().containers())
    add_log(each.name());
  for (const auto& each : pod.spec().ephemeral_containers())
    add_log(each.ephemeral_container_common().name());
  for (const auto& layer : layers) {
    if (!layer.apart) usage.containers[layer.container] += layer.bytes;
    usage.pod += layer.bytes;
  }
  return usage;
}

}  // namespace troupe::actors
