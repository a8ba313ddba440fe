// The controls of AppArmor and seccomp profiles: fields, and the annotations of older versions.
#include "actors/write/pod_security/controls.hpp"
#include "actors/write/pod_security/offenders.hpp"

namespace troupe::actors::pod_security {
namespace {

constexpr std::string_view app_armor_prefix = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view seccomp_key = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view seccomp_prefix = "container.seccomp.security.alpha.kubernetes.io/";

bool is_confined(std::string_view type) {
  return type == "RuntimeDefault" || type == "Localhost";
}

std::string annotation_text(std::string_view key, std::string_view value) {
  return fmt::format("{}=\"{}\"", key, value);
}

// The violators that name an unconfined profile.
struct bad_profiles {
  offenders setters = {};
  sorted_texts types = {};
};

template <class ProfileOf>
bad_profiles find_bad_profiles(const subject& pod, ProfileOf profile_of) {
  bad_profiles bad;
  const auto look = [&](const auto& security) {
    const auto* profile = profile_of(security);
    if (profile == nullptr || is_confined(profile->type())) return false;
    bad.types.insert(profile->type());
    return true;
  };
  bad.setters.pod = look(pod.spec.security_context());
  for_each_container(pod.spec, [&](const auto& container) {
    if (look(container.security_context())) bad.setters.containers.push_back(container.name());
  });
  return bad;
}

constexpr auto seccomp_profile_of = [](const auto& security) {
  return security.has_seccomp_profile() ? &security.seccomp_profile() : nullptr;
};
constexpr auto app_armor_profile_of = [](const auto& security) {
  return security.has_app_armor_profile() ? &security.app_armor_profile() : nullptr;
};

}  // namespace

void check_app_armor_profile(const subject& pod, violations& found) {
  const auto bad = find_bad_profiles(pod, app_armor_profile_of);
  sorted_texts annotations;
  for (const auto& [key, value] : pod.meta.annotations())
    if (key.starts_with(app_armor_prefix) && !value.empty() && value != "runtime/default" &&
        !value.starts_with("localhost/"))
      annotations.insert(annotation_text(key, value));
  if (bad.setters.empty() && annotations.empty()) return;
  std::vector<std::string> values{bad.types.begin(), bad.types.end()};
  values.insert(values.end(), annotations.begin(), annotations.end());
  auto setters = bad.setters.empty() ? std::string{} : bad.setters.list();
  if (!annotations.empty())
    setters += fmt::format("{}{}", setters.empty() ? "" : " and ",
                           plural("annotation", "annotations", annotations.size()));
  found.push_back(
      {std::string{
           plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.size())},
       fmt::format("{} must not set AppArmor profile type to {}", setters, quoted_list(values))});
}

void check_seccomp_annotations(const subject& pod, violations& found) {
  sorted_texts forbidden;
  const auto look = [&](const std::string& key) {
    const auto annotation = pod.meta.annotations().find(key);
    if (annotation == pod.meta.annotations().end()) return;
    const auto& value = annotation->second;
    if (value != "runtime/default" && value != "docker/default" && !value.starts_with("localhost/"))
      forbidden.insert(annotation_text(key, value));
  };
  look(std::string{seccomp_key});
  for_each_container(pod.spec, [&](const auto& container) {
    look(std::string{seccomp_prefix} + container.name());
  });
  if (forbidden.empty()) return;
  found.push_back(
      {"seccompProfile",
       fmt::format("forbidden {} {}", plural("annotation", "annotations", forbidden.size()),
                   joined(forbidden, ", "))});
}

void check_seccomp_profile(const subject& pod, violations& found) {
  const auto bad = find_bad_profiles(pod, seccomp_profile_of);
  if (bad.setters.empty()) return;
  found.push_back(
      {"seccompProfile", fmt::format("{} must not set securityContext.seccompProfile.type to {}",
                                     bad.setters.list(), quoted_list(bad.types))});
}

void check_seccomp_profile_is_set(const subject& pod, violations& found) {
  const auto before = found.size();
  check_seccomp_profile(pod, found);
  if (found.size() != before || pod.spec.security_context().has_seccomp_profile()) return;
  offenders without;
  for_each_container(pod.spec, [&](const auto& container) {
    if (!container.security_context().has_seccomp_profile())
      without.containers.push_back(container.name());
  });
  if (without.empty()) return;
  found.push_back(
      {"seccompProfile", fmt::format("pod or {} must set securityContext.seccompProfile.type to "
                                     "\"RuntimeDefault\" or \"Localhost\"",
                                     without.list())});
}

}  // namespace troupe::actors::pod_security
