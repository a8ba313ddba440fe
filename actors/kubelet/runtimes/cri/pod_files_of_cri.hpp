// What the kubelet keeps on disk for containers of the runtime by CRI, in the pod's directory:
//   pods/UID/logs/NAME/N.log           written by the runtime
//   pods/UID/etc-hosts                 mounted at /etc/hosts
//   pods/UID/messages/NAME-N           mounted at terminationMessagePath
//   pods/UID/sub-paths/NAME-N/I        bound to the subPath of a mount, so that no link that the
//                                      container makes later leads out of the volume
// All block on disk: not for actors' threads.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/cri/container_request.hpp"

namespace troupe::actors {

// Makes the files of one attempt, and replaces the mounts of `config` that have a subPath. `ip` is
// the pod's, where it has a network of its own.
tl::expected<container_files_of_pod, std::string> make_container_files(container_config& config,
                                                                       const cri_node& node,
                                                                       const std::string& ip);

// Of an attempt that has ended: the last that it wrote to its message file or, with
// FallbackToLogsOnError and a failure, the last of its log.
std::string termination_message(const cri::ContainerStatus& ended);

// Removes logs, messages and subPaths of the attempts of a container before the one that came
// before `attempt`: they are asked for no more.
void remove_older_files(const cri_node& node, const std::string& pod_uid,
                        const std::string& container, int attempt);

// Removes logs and files of the pod, but not its volumes.
void remove_container_files(const cri_node& node, const std::string& pod_uid);

}  // namespace troupe::actors
