#include "actors/access/pod_references.hpp"

#include <set>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/node_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::ConfigMap;
using api::core::v1::LocalObjectReference;
using api::core::v1::ObjectReference;
using api::core::v1::PersistentVolume;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::SecretReference;
using api::core::v1::ServiceAccount;
using api::core::v1::Volume;
using api::core::v1::VolumeSource;
using api::node::v1::RuntimeClass;

// Calls `take` with kind and name of each ConfigMap and Secret of a container of any type.
template <class Container, class F>
void each_variable(const Container& container, F take) {
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

template <class F>
void each_reference(const Pod& pod, F take) {
  for (const auto& container : pod.spec().init_containers())
    each_variable(container, take);
  for (const auto& container : pod.spec().containers())
    each_variable(container, take);
  for (const auto& container : pod.spec().ephemeral_containers())
    each_variable(container.ephemeral_container_common(), take);
  for (const auto& volume : pod.spec().volumes())
    each_reference(volume.volume_source(), take);
}

// Calls `visit` with each message field that is set in `parent`, and its name.
template <class F>
void each_part(const google::protobuf::Message& parent, F visit) {
  const auto& reflection = *parent.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(parent, &fields);
  for (const auto* field : fields)
    if (!field->is_repeated() && field->message_type() != nullptr)
      visit(reflection.GetMessage(parent, field), field->name());
}

template <class T>
const T* as(const google::protobuf::Message& message) {
  if (message.GetDescriptor() != T::descriptor()) return nullptr;
  return static_cast<const T*>(&message);
}

// Secrets of volume drivers: all of these fields have this name.
template <class F>
void each_driver_secret(const VolumeSource& source, F take) {
  // Nearly all volumes have no driver, and reflection is slow. A volume has one source.
  if (source.has_projected() || source.has_secret() || source.has_config_map() ||
      source.has_empty_dir() || source.has_host_path() || source.has_persistent_volume_claim())
    return;
  if (source.has_azure_file()) return take(source.azure_file().secret_name());
  each_part(source, [&](const auto& of_driver, const std::string&) {
    each_part(of_driver, [&](const auto& part, const std::string& name) {
      if (!name.ends_with("secret_ref")) return;
      if (const auto* reference = as<LocalObjectReference>(part)) take(reference->name());
    });
  });
}

// kubernetes: component-helpers/storage/ephemeral.
std::string claim_name(const Pod& pod, const Volume& volume) {
  const auto& source = volume.volume_source();
  if (source.has_persistent_volume_claim()) return source.persistent_volume_claim().claim_name();
  return source.has_ephemeral() ? pod.metadata().name() + "-" + volume.name() : std::string{};
}

}  // namespace

bool is_mirror(const Pod& pod) {
  return pod.metadata().annotations().contains(std::string{mirror_annotation});
}

projected_token wanted_token(const api::core::v1::ServiceAccountTokenProjection& source) {
  // The default of the schema.
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
  each_reference(pod, take);
  for (const auto& secret : pod.spec().image_pull_secrets())
    take(api::kind_of<Secret>(), secret.name());
  for (const auto& volume : pod.spec().volumes())
    if (const auto claim = claim_name(pod, volume); !claim.empty())
      take(api::kind_of<PersistentVolumeClaim>(), claim);
  if (auto key = runtime_class_key(pod); !key.empty()) keys.insert(std::move(key));
  return {keys.begin(), keys.end()};
}

std::string runtime_class_key(const Pod& pod) {
  const auto& name = pod.spec().runtime_class_name();
  return name.empty() ? std::string{} : api::kind_of<RuntimeClass>().key({}, name);
}

std::vector<std::string> used_keys(const Pod& pod) {
  std::set<std::string> keys;
  const auto take = [&](const api::kind_info& kind, const std::string& name) {
    if (!name.empty()) keys.insert(kind.key(pod.metadata().namespace_(), name));
  };
  each_reference(pod, take);
  const auto& spec = pod.spec();
  for (const auto& secret : spec.image_pull_secrets())
    take(api::kind_of<Secret>(), secret.name());
  for (const auto& volume : spec.volumes()) {
    each_driver_secret(volume.volume_source(),
                       [&](const std::string& name) { take(api::kind_of<Secret>(), name); });
    take(api::kind_of<PersistentVolumeClaim>(), claim_name(pod, volume));
  }
  take(api::kind_of<ServiceAccount>(), spec.service_account_name());
  return {keys.begin(), keys.end()};
}

std::string claim_key(const PersistentVolume& volume) {
  const auto& claim = volume.spec().claim_ref();
  if (claim.name().empty()) return {};
  return api::kind_of<PersistentVolumeClaim>().key(claim.namespace_(), claim.name());
}

std::vector<std::string> secret_keys(const PersistentVolume& volume) {
  std::set<std::string> keys;
  const auto take = [&](const std::string& ns, const std::string& name) {
    const auto& home = ns.empty() ? volume.spec().claim_ref().namespace_() : ns;
    if (!name.empty()) keys.insert(api::kind_of<Secret>().key(home, name));
  };
  const auto& source = volume.spec().persistent_volume_source();
  if (source.has_azure_file())
    take(source.azure_file().secret_namespace(), source.azure_file().secret_name());
  each_part(source, [&](const auto& of_driver, const std::string&) {
    each_part(of_driver, [&](const auto& part, const std::string& name) {
      // Secrets for controllers are not for nodes.
      if (!name.ends_with("secret_ref") || name.starts_with("controller_")) return;
      if (const auto* secret = as<SecretReference>(part))
        take(secret->namespace_(), secret->name());
      if (const auto* secret = as<ObjectReference>(part))
        take(secret->namespace_(), secret->name());
    });
  });
  return {keys.begin(), keys.end()};
}

}  // namespace troupe::actors
