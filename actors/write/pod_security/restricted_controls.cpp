// The additional controls of restricted: a pod must drop privileges that it does not need.
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>

#include "actors/write/pod_security/controls.hpp"
#include "actors/write/pod_security/offenders.hpp"

namespace troupe::actors::pod_security {
namespace {

using api::core::v1::Volume;

constexpr std::array<std::string_view, 8> allowed_volumes{
    "configMap", "csi",   "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim",
    "projected", "secret"};
// Upstream has no text for volume types that are newer than the control.
constexpr std::array<std::string_view, 1> nameless_volumes{"image"};

bool is_windows(const subject& pod) {
  return pod.spec.os().name() == "windows";
}

// JSON names of the volume's sources: one, or none if it is incomplete.
std::vector<std::string> sources_of(const Volume& volume) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  const auto& source = volume.volume_source();
  source.GetReflection()->ListFields(source, &fields);
  std::vector<std::string> names;
  for (const auto* field : fields)
    names.push_back(field->json_name());
  return names;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void check_privilege_escalation(const subject& pod, violations& found) {
  offenders setters;
  for_each_container(pod.spec, [&](const auto& container) {
    const auto& security = container.security_context();
    if (!security.has_allow_privilege_escalation() || security.allow_privilege_escalation())
      setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  found.push_back({"allowPrivilegeEscalation != false",
                   setters.list() + " must set securityContext.allowPrivilegeEscalation=false"});
}

void check_privilege_escalation_1_25(const subject& pod, violations& found) {
  if (!is_windows(pod)) check_privilege_escalation(pod, found);
}

void check_dropped_capabilities(const subject& pod, violations& found) {
  offenders keeping, adding;
  sorted_texts added;
  for_each_container(pod.spec, [&](const auto& container) {
    const auto& capabilities = container.security_context().capabilities();
    if (!contains(capabilities.drop(), "ALL")) keeping.containers.push_back(container.name());
    bool bad = false;
    for (const auto& name : capabilities.add())
      if (name != "NET_BIND_SERVICE") {
        added.insert(name);
        bad = true;
      }
    if (bad) adding.containers.push_back(container.name());
  });
  std::vector<std::string> details;
  if (!keeping.empty())
    details.push_back(keeping.list() + " must set securityContext.capabilities.drop=[\"ALL\"]");
  if (!adding.empty())
    details.push_back(fmt::format("{} must not include {} in securityContext.capabilities.add",
                                  adding.list(), quoted_list(added)));
  if (!details.empty()) found.push_back({"unrestricted capabilities", joined(details, "; ")});
}

void check_dropped_capabilities_1_25(const subject& pod, violations& found) {
  if (!is_windows(pod)) check_dropped_capabilities(pod, found);
}

void check_volume_types(const subject& pod, violations& found) {
  std::vector<std::string> names;
  sorted_texts types;
  for (const auto& volume : pod.spec.volumes()) {
    const auto sources = sources_of(volume);
    if (std::any_of(sources.begin(), sources.end(),
                    [](const auto& source) { return contains(allowed_volumes, source); }))
      continue;
    names.push_back(volume.name());
    const bool named = !sources.empty() && !contains(nameless_volumes, sources.front());
    types.insert(named ? sources.front() : "unknown");
  }
  if (names.empty()) return;
  found.push_back(
      {"restricted volume types",
       fmt::format("{} {} {} {} {}", plural("volume", "volumes", names.size()), quoted_list(names),
                   plural("uses", "use", names.size()),
                   plural("restricted volume type", "restricted volume types", types.size()),
                   quoted_list(types))});
}

void check_run_as_non_root(const subject& pod, violations& found) {
  const auto& pod_security = pod.spec.security_context();
  offenders setters{.pod = pod_security.has_run_as_non_root() && !pod_security.run_as_non_root()};
  offenders without;
  for_each_container(pod.spec, [&](const auto& container) {
    const auto& security = container.security_context();
    if (security.has_run_as_non_root() && !security.run_as_non_root())
      setters.containers.push_back(container.name());
    if (!security.has_run_as_non_root() && !pod_security.run_as_non_root())
      without.containers.push_back(container.name());
  });
  if (!setters.empty())
    found.push_back({"runAsNonRoot != true",
                     setters.list() + " must not set securityContext.runAsNonRoot=false"});
  else if (!without.empty())
    found.push_back({"runAsNonRoot != true", fmt::format("pod or {} must set "
                                                         "securityContext.runAsNonRoot=true",
                                                         without.list())});
}

void check_run_as_user(const subject& pod, violations& found) {
  const auto is_root = [](const auto& security) {
    return security.has_run_as_user() && security.run_as_user() == 0;
  };
  offenders setters{.pod = is_root(pod.spec.security_context())};
  for_each_container(pod.spec, [&](const auto& container) {
    if (is_root(container.security_context())) setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  found.push_back({"runAsUser=0", setters.list() + " must not set runAsUser=0"});
}

void check_seccomp_profile_is_set_1_25(const subject& pod, violations& found) {
  if (!is_windows(pod)) check_seccomp_profile_is_set(pod, found);
}

}  // namespace troupe::actors::pod_security
