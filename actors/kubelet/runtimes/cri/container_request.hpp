// The CRI config of a container (kubernetes: kuberuntime_container.go, generateContainerConfig).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"

namespace troupe::actors {

namespace cri_annotations {
inline constexpr const char* restart_count = "io.kubernetes.container.restartCount";
inline constexpr const char* termination_policy =
    "io.kubernetes.container.terminationMessagePolicy";
// Our own: the image as in the spec, and the path of the termination message file on the node.
inline constexpr const char* image = "io.troupe.container.image";
inline constexpr const char* message_file = "io.troupe.container.termination-message";
}  // namespace cri_annotations

// The user that an image runs as, if its config names one.
struct image_user {
  std::optional<std::int64_t> uid;
  std::string name;
};

// Names of files on the node that every container of a pod mounts; empty: none.
struct container_files_of_pod {
  std::string hosts, termination_message;
};

// Checks runAsNonRoot, as the kubelet has to. The error is the message of
// CreateContainerConfigError.
tl::expected<void, std::string> check_user(const api::core::v1::Pod& pod,
                                           const api::core::v1::Container& container,
                                           const image_user& image);

// CPU shares and quota, memory limit and OOM score.
cri::LinuxContainerResources resources_of(const api::core::v1::Pod& pod,
                                          const api::core::v1::Container& container,
                                          std::int64_t node_memory_bytes);

// The error is `refused`, with the reason CreateContainerConfigError.
runtime_result<cri::ContainerConfig> container_request(const container_config& config,
                                                       const cri_node& node,
                                                       const image_user& image,
                                                       const container_files_of_pod& files);

}  // namespace troupe::actors
