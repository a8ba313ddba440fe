#include "actors/write/admission/mountable_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::core::v1::ServiceAccount;

constexpr const char* annotation = "kubernetes.io/enforce-mountable-secrets";

template <class List>
bool lists(const List& references, const std::string& name) {
  return std::any_of(references.begin(), references.end(),
                     [&](const auto& each) { return each.name() == name; });
}

// Go: strconv.ParseBool.
bool is_true(std::string_view text) {
  static constexpr std::array<std::string_view, 6> words{"1", "t", "T", "true", "TRUE", "True"};
  return std::find(words.begin(), words.end(), text) != words.end();
}

template <class Container>
std::string find_in_container(const ServiceAccount& account, const Container& container,
                              std::string_view sort) {
  const auto describe = [&](const std::string& source, const std::string& secret) {
    return fmt::format(
        "{} {} with {} referencing secret.secretName=\"{}\" is not allowed because service account "
        "{} does not reference that secret",
        sort, container.name(), source, secret, account.metadata().name());
  };
  for (const auto& variable : container.env()) {
    const auto& from = variable.value_from();
    if (!from.has_secret_key_ref()) continue;
    const auto& name = from.secret_key_ref().local_object_reference().name();
    if (!lists(account.secrets(), name)) return describe("envVar " + variable.name(), name);
  }
  for (const auto& from : container.env_from()) {
    if (!from.has_secret_ref()) continue;
    const auto& name = from.secret_ref().local_object_reference().name();
    if (!lists(account.secrets(), name)) return describe("envFrom", name);
  }
  return {};
}

}  // namespace

bool limits_secrets(const ServiceAccount& account) {
  const auto& annotations = account.metadata().annotations();
  const auto found = annotations.find(annotation);
  return found != annotations.end() && is_true(found->second);
}

std::string find_forbidden_secret(const ServiceAccount& account, const Pod& pod) {
  const auto& spec = pod.spec();
  for (const auto& volume : spec.volumes()) {
    if (!volume.volume_source().has_secret()) continue;
    const auto& name = volume.volume_source().secret().secret_name();
    if (!lists(account.secrets(), name))
      return fmt::format(
          "volume with secret.secretName=\"{}\" is not allowed because service account {} does not "
          "reference that secret",
          name, account.metadata().name());
  }
  for (const auto& container : spec.init_containers())
    if (auto found = find_in_container(account, container, "init container"); !found.empty())
      return found;
  for (const auto& container : spec.containers())
    if (auto found = find_in_container(account, container, "container"); !found.empty())
      return found;
  for (int i = 0; i < spec.image_pull_secrets_size(); ++i) {
    const auto& name = spec.image_pull_secrets(i).name();
    if (!lists(account.image_pull_secrets(), name))
      return fmt::format(
          "imagePullSecrets[{}].name=\"{}\" is not allowed because service account {} does not "
          "reference that imagePullSecret",
          i, name, account.metadata().name());
  }
  return {};
}

std::string find_forbidden_addition(const ServiceAccount& account, const Pod& pod) {
  for (const auto& container : pod.spec().ephemeral_containers())
    if (auto found = find_in_container(account, container.ephemeral_container_common(),
                                       "ephemeral container");
        !found.empty())
      return found;
  return {};
}

}  // namespace troupe::actors::admission
