// The security settings of a container's process: part of its spec on disk (container_dir.hpp),
// computed by security_context.hpp, applied by container_root.hpp and process_identity.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/security/capabilities.hpp"

namespace troupe::actors {

// How a container is isolated from the rest of the machine.
enum class confinement : std::uint8_t {
  none,            // no isolation: the machine allows no namespaces
  namespaces,      // PID and mount namespaces, created by a node with CAP_SYS_ADMIN
  user_namespace,  // the same in a user namespace, where an ordinary user has only his own id
};

enum class seccomp_kind : std::uint8_t { unconfined, runtime_default, profile };

// The rights of the node's process, which it may give to containers. Read once at start.
struct machine_rights {
  std::uint32_t user = 0, group = 0;
  std::vector<std::uint32_t> groups = {};  // supplementary
  capability_set capabilities = 0;         // effective
  confinement confined_by = confinement::none;
  bool has_apparmor = false;

  bool has(std::string_view capability) const {
    const auto number = capability_number(capability);
    return number && (capabilities & capability_bit(*number)) != 0;
  }
};

struct process_security {
  confinement confined_by = confinement::none;
  // Absent: the node's. A user without a group gets the group in /etc/passwd, else 0.
  std::optional<std::uint32_t> user = {}, group = {};
  std::vector<std::uint32_t> groups = {};
  bool merge_groups = true;  // adds the groups of the user in /etc/group
  capability_set capabilities = 0;
  bool privileged = false;
  bool no_new_privileges = false;
  bool read_only_root = false;
  seccomp_kind seccomp = seccomp_kind::unconfined;
  // For `profile`: its file below the kubelet's seccomp folder; in a spec on disk its content.
  std::string seccomp_profile = {};
  // The node's own directories, hidden from containers.
  std::vector<std::string> hidden = {};

  bool operator==(const process_security&) const = default;
};

}  // namespace troupe::actors
