#include "actors/kubelet/security/security_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::SecurityContext;

namespace {

using void_result = tl::expected<void, std::string>;

// kubernetes: format.Pod.
std::string full_name(const Pod& pod) {
  const auto& meta = pod.metadata();
  return fmt::format("{}_{}({})", meta.name(), meta.namespace_(), meta.uid());
}

class rules {
 public:
  rules(const Pod& pod, const Container& container, const machine_rights& rights)
      : pod_{pod},
        container_{container},
        rights_{rights},
        context_{effective_context(pod, container)} {}

  tl::expected<process_security, std::string> apply() {
    for (const auto rule :
         {&rules::kernel_modules, &rules::non_root, &rules::user, &rules::groups,
          &rules::capabilities, &rules::files, &rules::system_calls, &rules::node_is_safe})
      if (auto done = (this->*rule)(); !done) return tl::make_unexpected(std::move(done.error()));
    return std::move(result_);
  }

 private:
  tl::unexpected<std::string> refused(const std::string& reason) const {
    return tl::make_unexpected(
        fmt::format("{} (pod: \"{}\", container: {})", reason, full_name(pod_), container_.name()));
  }

  // Fields that the process runtime cannot support.
  void_result kernel_modules() {
    if (context_.has_se_linux_options())
      return refused("seLinuxOptions cannot be honoured: the process runtime sets no labels");
    if (context_.has_windows_options()) return refused("windowsOptions are for nodes with Windows");
    if (context_.proc_mount() == "Unmasked")
      return refused("procMount Unmasked cannot be honoured without a user namespace for the pod");
    if (pod_.spec().has_host_users() && !pod_.spec().host_users())
      return refused("hostUsers false cannot be honoured: the process runtime maps no users");
    if (!pod_.spec().security_context().sysctls().empty())
      return refused(
          fmt::format("sysctl \"{}\" cannot be set: containers share the kernel's "
                      "parameters with the node",
                      pod_.spec().security_context().sysctls(0).name()));
    if (!context_.has_app_armor_profile() || context_.app_armor_profile().type() == "Unconfined" ||
        context_.privileged())
      return {};
    // kubernetes: security/apparmor/validate.go.
    if (!rights_.has_apparmor)
      return refused("Cannot enforce AppArmor: AppArmor is not enabled on the host");
    return refused("Cannot enforce AppArmor: the process runtime loads no profiles");
  }

  // kubernetes: kuberuntime/security_context_others.go, verifyRunAsNonRoot.
  void_result non_root() {
    if (!context_.run_as_non_root()) return {};
    if (context_.has_run_as_user() && context_.run_as_user() == 0)
      return refused("container's runAsUser breaks non-root policy");
    if (!context_.has_run_as_user() && rights_.user == 0)
      return refused("container has runAsNonRoot and image will run as root");
    return {};
  }

  void_result user() {
    if (context_.has_run_as_user())
      result_.user = static_cast<std::uint32_t>(context_.run_as_user());
    if (context_.has_run_as_group())
      result_.group = static_cast<std::uint32_t>(context_.run_as_group());
    const bool may_change = rights_.has("SETUID") && rights_.has("SETGID");
    if (may_change) return {};
    if (result_.user.value_or(rights_.user) != rights_.user)
      return refused(
          fmt::format("runAsUser {} cannot be honoured: the node runs as user {} and may "
                      "not start processes of other users; run the node as root",
                      *result_.user, rights_.user));
    if (result_.group.value_or(rights_.group) != rights_.group)
      return refused(
          fmt::format("runAsGroup {} cannot be honoured: the node runs as group {} and "
                      "may not change it; run the node as root",
                      *result_.group, rights_.group));
    result_.user.reset();
    result_.group.reset();
    return {};
  }

  void_result groups() {
    const auto& of_pod = pod_.spec().security_context();
    for (const auto each : of_pod.supplemental_groups())
      result_.groups.push_back(static_cast<std::uint32_t>(each));
    if (of_pod.has_fs_group())
      result_.groups.push_back(static_cast<std::uint32_t>(of_pod.fs_group()));
    std::sort(result_.groups.begin(), result_.groups.end());
    result_.groups.erase(std::unique(result_.groups.begin(), result_.groups.end()),
                         result_.groups.end());
    result_.merge_groups = of_pod.supplemental_groups_policy() != "Strict";
    if (rights_.has("SETGID")) return {};
    if (!result_.merge_groups)
      return refused(
          "supplementalGroupsPolicy Strict cannot be honoured: the node may not leave "
          "its own groups; run the node as root");
    for (const auto each : result_.groups)
      if (each != rights_.group &&
          std::find(rights_.groups.begin(), rights_.groups.end(), each) == rights_.groups.end())
        return refused(
            fmt::format("group {} cannot be given: the node is not in it and may not "
                        "change groups; run the node as root",
                        each));
    return {};
  }

  void_result capabilities() {
    result_.privileged = context_.privileged();
    result_.no_new_privileges =
        context_.has_allow_privilege_escalation() && !context_.allow_privilege_escalation();
    if (result_.privileged) {
      if (!rights_.has("SYS_ADMIN"))
        return refused("privileged cannot be honoured: the node is not privileged itself");
      result_.capabilities = rights_.capabilities;
      return {};
    }
    const auto allowed = container_capabilities(context_.capabilities(), rights_.capabilities);
    if (!allowed) return refused(allowed.error());
    result_.capabilities = *allowed;
    // If the bounding set cannot be reduced, setuid programs would bypass the restriction.
    if (!rights_.has("SETPCAP") && rights_.confined_by != confinement::user_namespace)
      result_.no_new_privileges = true;
    return {};
  }

  void_result files() {
    result_.read_only_root = context_.read_only_root_filesystem();
    if (result_.read_only_root && rights_.confined_by == confinement::none)
      return refused(
          "readOnlyRootFilesystem cannot be honoured: the node may make no mount "
          "namespaces");
    return {};
  }

  void_result system_calls() {
    const auto& profile = context_.seccomp_profile();
    if (!context_.has_seccomp_profile() || profile.type() == "Unconfined" || result_.privileged)
      return {};
    result_.seccomp =
        profile.type() == "Localhost" ? seccomp_kind::profile : seccomp_kind::runtime_default;
    if (result_.seccomp != seccomp_kind::profile) return {};
    result_.seccomp_profile = profile.localhost_profile();
    if (result_.seccomp_profile.empty())
      return refused("localhostProfile must be set if seccompProfile type is Localhost.");
    return {};
  }

  // The node's keys belong to its user: containers with that user id, or root's, are kept from them
  // only by a mount namespace.
  void_result node_is_safe() {
    result_.confined_by = rights_.confined_by;
    const auto id = result_.user.value_or(rights_.user);
    if (rights_.confined_by != confinement::none || (id != 0 && id != rights_.user)) return {};
    return refused(fmt::format(
        "container would run as user {}, and the node may make no mount namespaces to keep its own "
        "keys from it: {}",
        id,
        rights_.user == 0 ? "set runAsUser to another user, or give the node CAP_SYS_ADMIN"
                          : "run the node as root, or allow user namespaces"));
  }

  const Pod& pod_;
  const Container& container_;
  const machine_rights& rights_;
  const SecurityContext context_;
  process_security result_;
};

}  // namespace

SecurityContext effective_context(const Pod& pod, const Container& container) {
  const auto& of_pod = pod.spec().security_context();
  SecurityContext out = container.security_context();
  if (!out.has_se_linux_options() && of_pod.has_se_linux_options())
    *out.mutable_se_linux_options() = of_pod.se_linux_options();
  if (!out.has_windows_options() && of_pod.has_windows_options())
    *out.mutable_windows_options() = of_pod.windows_options();
  if (!out.has_run_as_user() && of_pod.has_run_as_user()) out.set_run_as_user(of_pod.run_as_user());
  if (!out.has_run_as_group() && of_pod.has_run_as_group())
    out.set_run_as_group(of_pod.run_as_group());
  if (!out.has_run_as_non_root() && of_pod.has_run_as_non_root())
    out.set_run_as_non_root(of_pod.run_as_non_root());
  if (!out.has_seccomp_profile() && of_pod.has_seccomp_profile())
    *out.mutable_seccomp_profile() = of_pod.seccomp_profile();
  if (!out.has_app_armor_profile() && of_pod.has_app_armor_profile())
    *out.mutable_app_armor_profile() = of_pod.app_armor_profile();
  return out;
}

tl::expected<process_security, std::string> security_of(const Pod& pod, const Container& container,
                                                        const machine_rights& rights) {
  return rules{pod, container, rights}.apply();
}

}  // namespace troupe::actors
