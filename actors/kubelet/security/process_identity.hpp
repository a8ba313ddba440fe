// Sets user, groups, capabilities and seccomp filter of a container's process. For the shim and for
// commands in containers, both in a single-threaded process that is about to exec.
//
// The order matters, and is the same as in runc:
//   1  groups, group            while the process may still change them
//   2  seccomp, without no_new_privs: the kernel then requires CAP_SYS_ADMIN
//   3  the bounding set         while the process has CAP_SETPCAP
//   4  user                     a change from 0 clears the permitted set
//   5  permitted, effective     the container's set for user 0, empty for others: without ambient
//                               capabilities they would lose it in exec; inheritable and ambient
//                               are empty
//   6  no_new_privs, then seccomp if it is used with no_new_privs
// After a failed step the process has only some of these settings and must exit.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/security/process_security.hpp"
#include "actors/kubelet/security/seccomp_filter.hpp"

namespace troupe::actors {

struct process_identity {
  std::optional<std::uint32_t> user, group;  // absent: unchanged
  std::optional<std::vector<std::uint32_t>> groups = {};
  std::string home = {};
  std::optional<seccomp_filter> filter = {};
};

// Reads /etc/passwd and /etc/group of the machine: call it before the container's mounts are set
// up. A user without an entry has group 0 and the home "/", as in other container runtimes.
tl::expected<process_identity, std::string> identity_of(const process_security& security);

tl::expected<void, std::string> take_identity(const process_identity& identity,
                                              const process_security& security);

// Adds HOME if the environment has none.
void add_home(std::vector<std::string>& environment, const process_identity& identity);

// The rights of this process; does not fork.
machine_rights held_rights();

// The rights that this process may give to containers; without CAP_SYS_ADMIN it tests if user
// namespaces are allowed. Forks.
machine_rights read_rights();

// For a spec without security: the same rights as this process.
process_security unrestricted();

// In a new user namespace: maps this user and group to themselves, and no others.
tl::expected<void, std::string> map_own_user(std::uint32_t user, std::uint32_t group);

}  // namespace troupe::actors
