#include "actors/write/admission/api_access.hpp"

#include <algorithm>
#include <string>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::ServiceAccount;
using api::core::v1::Volume;

constexpr const char* system_namespace = "kube-system";
constexpr int readable_by_all = 0644;

// Sets all defaults, because admission runs after defaulting.
Volume make_volume() {
  Volume volume;
  auto& projected = *volume.mutable_volume_source()->mutable_projected();
  projected.set_default_mode(readable_by_all);
  auto& token = *projected.add_sources()->mutable_service_account_token();
  token.set_expiration_seconds(mounted_token_seconds);
  token.set_path("token");
  auto& authority = *projected.add_sources()->mutable_config_map();
  authority.mutable_local_object_reference()->set_name(std::string{authority_map});
  auto& certificates = *authority.add_items();
  certificates.set_key(std::string{authority_key});
  certificates.set_path("ca.crt");
  auto& fact = *projected.add_sources()->mutable_downward_api()->add_items();
  fact.set_path("namespace");
  fact.mutable_field_ref()->set_api_version("v1");
  fact.mutable_field_ref()->set_field_path("metadata.namespace");
  return volume;
}

// Empty if there is none.
std::string volume_of(const Pod& pod) {
  for (const auto& volume : pod.spec().volumes())
    if (volume.name().starts_with(api_access_prefix)) return volume.name();
  return {};
}

bool has_volume(const Pod& pod, const std::string& name) {
  const auto& all = pod.spec().volumes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.name() == name; });
}

// Generates a name that no other volume of the pod has. Deterministic for a salt and the names of
// the pod's volumes.
std::string new_name(const Pod& pod, std::uint64_t salt) {
  for (;; salt = salt * 6364136223846793005 + 1442695040888963407) {
    auto name = api::generate_name(api_access_prefix, [&salt] {
      salt ^= salt >> 33;
      return salt *= 0xff51afd7ed558ccd;
    });
    if (!has_volume(pod, name)) return name;
  }
}

bool mount(Container& container, const std::string& volume) {
  const auto& mounts = container.volume_mounts();
  if (std::any_of(mounts.begin(), mounts.end(),
                  [](const auto& each) { return each.mount_path() == api_access_path; }))
    return false;
  auto& made = *container.add_volume_mounts();
  made.set_name(volume);
  made.set_read_only(true);
  made.set_mount_path(std::string{api_access_path});
  return true;
}

}  // namespace

bool mounts_tokens(const persistence::snapshot& state) {
  static const auto key =
      api::kind_of<ConfigMap>().key(system_namespace, std::string{authority_map});
  return state.find(key) != nullptr;
}

bool wants_token(const Pod& pod, const ServiceAccount* account) {
  if (pod.spec().has_automount_service_account_token())
    return pod.spec().automount_service_account_token();
  return account == nullptr || !account->has_automount_service_account_token() ||
         account->automount_service_account_token();
}

void mount_api_access(Pod& pod, std::uint64_t salt) {
  static const auto volume = make_volume();
  auto name = volume_of(pod);
  const bool there = !name.empty();
  if (!there) name = new_name(pod, salt);
  bool needed = false;
  for (auto& container : *pod.mutable_spec()->mutable_init_containers())
    needed |= mount(container, name);
  for (auto& container : *pod.mutable_spec()->mutable_containers())
    needed |= mount(container, name);
  if (there || !needed) return;
  auto& added = *pod.mutable_spec()->add_volumes();
  added = volume;
  added.set_name(std::move(name));
}

}  // namespace troupe::actors::admission
