// What the kubelet keeps on disk for containers of the runtime by CRI, in the pod's directory:
//   pods/UID/logs/NAME/N.log           written by the runtime
//   pods/UID/etc-hosts                 mounted at /etc/hosts
//   pods/UID/messages/NAME-N           mounted at terminationMessagePath
//   pods/UID/sub-paths/NAME-N/I        bound to the subPath of a mount, so that no link that the
//                                      container makes later leads out of the volume
// and its control group. All block on disk: not for actors' threads.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/cri/container_request.hpp"

namespace troupe::actors {

// Makes the files of one attempt, and replaces the mounts of `config` that have a subPath. `ip` is
// the pod's; empty: it has no network of its own.
tl::expected<container_files_of_pod, std::string> make_container_files(container_config& config,
                                                                       const cri_node& node,
                                                                       const std::string& ip);

// Of an attempt that has ended: what it wrote to its message file or, with
// FallbackToLogsOnError and a failure, the last of its log.
std::string termination_message(const cri::ContainerStatus& ended);

// Removes logs and files of the pod, but not its volumes.
void remove_container_files(const cri_node& node, const std::string& pod_uid);

// Removes the pod's control groups, in all hierarchies; the runtime leaves them.
void remove_pod_groups(const std::string& pod_uid);

}  // namespace troupe::actors
