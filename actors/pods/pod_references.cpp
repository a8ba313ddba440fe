#include "actors/pods/pod_references.hpp"

#include <set>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::VolumeSource;

// Calls `take` with kind and name of each config map and secret.
template <class F>
void each_reference(const Container& container, F take) {
  for (const auto& from : container.env_from()) {
    if (from.has_config_map_ref())
      take(api::kind_of<ConfigMap>(), from.config_map_ref().local_object_reference().name());
    if (from.has_secret_ref())
      take(api::kind_of<Secret>(), from.secret_ref().local_object_reference().name());
  }
  for (const auto& variable : container.env()) {
    const auto& from = variable.value_from();
    if (from.has_config_map_key_ref())
      take(api::kind_of<ConfigMap>(), from.config_map_key_ref().local_object_reference().name());
    if (from.has_secret_key_ref())
      take(api::kind_of<Secret>(), from.secret_key_ref().local_object_reference().name());
  }
}

template <class F>
void each_reference(const VolumeSource& source, F take) {
  if (source.has_config_map())
    take(api::kind_of<ConfigMap>(), source.config_map().local_object_reference().name());
  if (source.has_secret()) take(api::kind_of<Secret>(), source.secret().secret_name());
  for (const auto& each : source.projected().sources()) {
    if (each.has_config_map())
      take(api::kind_of<ConfigMap>(), each.config_map().local_object_reference().name());
    if (each.has_secret())
      take(api::kind_of<Secret>(), each.secret().local_object_reference().name());
  }
}

}  // namespace

projected_token wanted_token(const api::core::v1::ServiceAccountTokenProjection& source) {
  // As the schema defaults it.
  constexpr std::int64_t usual_seconds = 3'600;
  return {source.audience(),
          source.has_expiration_seconds() ? source.expiration_seconds() : usual_seconds};
}

std::vector<projected_token> projected_tokens(const Pod& pod) {
  std::set<projected_token> all;
  for (const auto& volume : pod.spec().volumes())
    for (const auto& source : volume.volume_source().projected().sources())
      if (source.has_service_account_token())
        all.insert(wanted_token(source.service_account_token()));
  return {all.begin(), all.end()};
}

std::vector<std::string> referenced_keys(const Pod& pod) {
  std::set<std::string> keys;
  const auto take = [&](const api::kind_info& kind, const std::string& name) {
    keys.insert(kind.key(pod.metadata().namespace_(), name));
  };
  for (const auto& container : pod.spec().init_containers())
    each_reference(container, take);
  for (const auto& container : pod.spec().containers())
    each_reference(container, take);
  for (const auto& volume : pod.spec().volumes())
    each_reference(volume.volume_source(), take);
  for (const auto& secret : pod.spec().image_pull_secrets())
    take(api::kind_of<Secret>(), secret.name());
  return {keys.begin(), keys.end()};
}

}  // namespace troupe::actors
