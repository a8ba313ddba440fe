// The seccomp filter of a container's process. Built before the process drops its rights, loaded as
// late as possible (process_identity.hpp). One owner, any thread.
//
// RuntimeDefault rejects what containerd's default profile rejects: EPERM for system calls that
// manage the machine, unless the container has the matching capability, and ENOSYS for calls that
// this program's libseccomp does not know. Only calls of the machine's native architecture are
// known: 32-bit programs do not run under it.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/security/process_security.hpp"

namespace troupe::actors {

class seccomp_filter {
 public:
  static tl::expected<seccomp_filter, std::string> runtime_default(capability_set capabilities);
  // A profile in OCI's JSON format (defaultAction, architectures, syscalls). The error names the
  // invalid field; an unknown field that would change the filter is an error too.
  static tl::expected<seccomp_filter, std::string> of_profile(const std::string& json);

  // Applies to this thread and its children. Needs CAP_SYS_ADMIN or no_new_privs.
  tl::expected<void, std::string> load() const;

 private:
  explicit seccomp_filter(void* context);
  std::shared_ptr<void> context_;
};

}  // namespace troupe::actors
