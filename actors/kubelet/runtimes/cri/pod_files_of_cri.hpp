// The files that the kubelet writes for CRI containers, in the pod's directory:
//   pods/UID/logs/NAME/N.log           written by the runtime
//   pods/UID/etc-hosts                 mounted at /etc/hosts
//   pods/UID/messages/NAME-N           mounted at terminationMessagePath
//   pods/UID/sub-paths/NAME-N/I        bind mount of a subPath, so that a link that the container
//                                      creates later cannot lead out of the volume
// All functions block on disk: not for actor threads.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/cri/container_request.hpp"

namespace troupe::actors {

// Creates the files of one attempt and replaces the mounts of `config` that have a subPath. `ips`
// are the pod's addresses if it has its own network.
tl::expected<container_files_of_pod, std::string> make_container_files(
    container_config& config, const cri_node& node, const std::vector<std::string>& ips);

// Termination message of an ended attempt: the end of its message file or, with
// FallbackToLogsOnError and a failure, the end of its log.
std::string termination_message(const cri::ContainerStatus& ended);

// Removes logs, messages and subPaths of attempts older than the one before `attempt`: nobody needs
// them any more.
void remove_older_files(const cri_node& node, const std::string& pod_uid,
                        const std::string& container, int attempt);

// Removes the pod's logs and container files, but not its volumes.
void remove_container_files(const cri_node& node, const std::string& pod_uid);

}  // namespace troupe::actors
