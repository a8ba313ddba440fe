// Which system calls a container's process may make (seccomp). Made before the process gives up its
// rights and loaded as late as possible (process_identity.hpp). One owner, any thread.
//
// RuntimeDefault refuses what containerd's default profile refuses: EPERM for calls that manage the
// machine, unless the container holds the capability that they belong to, and ENOSYS for calls that
// this program's libseccomp does not know. Only calls of the machine's own architecture are known:
// programs of 32 bits do not run under it.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/security/process_security.hpp"

namespace troupe::actors {

class seccomp_filter {
 public:
  static tl::expected<seccomp_filter, std::string> runtime_default(capability_set capabilities);
  // A profile in OCI's JSON form (defaultAction, architectures, syscalls). The error names what is
  // wrong with it; a field that would have to be honoured and is not known is an error too.
  static tl::expected<seccomp_filter, std::string> of_profile(const std::string& json);

  // For this thread and what it starts. Needs CAP_SYS_ADMIN or no_new_privs.
  tl::expected<void, std::string> load() const;

 private:
  explicit seccomp_filter(void* context);
  std::shared_ptr<void> context_;
};

}  // namespace troupe::actors
