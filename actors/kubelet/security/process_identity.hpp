// Sets user, groups, capabilities and seccomp of a container's process. For the shim and for
// commands in containers, both in a process of one thread that is about to exec.
//
// The order matters, and is that of runc:
//   1  groups, group            while it may still change them
//   2  seccomp, where no_new_privs is not asked for: the kernel takes it from CAP_SYS_ADMIN alone
//   3  the bounding set         while it has CAP_SETPCAP
//   4  user                     a change from 0 clears the permitted set
//   5  permitted, effective     the container's set for user 0, nothing for others: without ambient
//                               capabilities they would lose it in exec; inheritable and ambient
//                               are empty
//   6  no_new_privs, then seccomp where it is asked for with it
// After a failed step the process is in between and must end.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/security/process_security.hpp"
#include "actors/kubelet/security/seccomp_filter.hpp"

namespace troupe::actors {

struct process_identity {
  std::optional<std::uint32_t> user, group;  // absent: as it is
  std::optional<std::vector<std::uint32_t>> groups = {};
  std::string home = {};
  std::optional<seccomp_filter> filter = {};
};

// Reads /etc/passwd and /etc/group of the machine: to be called before the container's mounts are
// there. A user without an entry has group 0 and the home "/", as in a container runtime.
tl::expected<process_identity, std::string> identity_of(const process_security& security);

tl::expected<void, std::string> take_identity(const process_identity& identity,
                                              const process_security& security);

// Adds HOME where the environment has none.
void add_home(std::vector<std::string>& environment, const process_identity& identity);

// What this process holds; does not fork.
machine_rights held_rights();

// What this process may give to containers; tries whether user namespaces are allowed where it has
// no CAP_SYS_ADMIN. Forks.
machine_rights read_rights();

// For a spec without security: everything that this process may do itself.
process_security unrestricted();

// In a new user namespace: this user and group are themselves, and there are no others.
tl::expected<void, std::string> map_own_user(std::uint32_t user, std::uint32_t group);

}  // namespace troupe::actors
