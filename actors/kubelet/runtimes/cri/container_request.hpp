// A container as the runtime is asked for it (kubernetes: kuberuntime_container.go,
// generateContainerConfig). Pure.
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
// Ours: the image as the spec says it, and the file of its termination message on the node.
inline constexpr const char* image = "io.troupe.container.image";
inline constexpr const char* message_file = "io.troupe.container.termination-message";
}  // namespace cri_annotations

// Who an image runs as, where its config says so.
struct image_user {
  std::optional<std::int64_t> uid;
  std::string name;
};

// The names of files on the node that every container of a pod mounts; empty: none.
struct container_files_of_pod {
  std::string hosts, termination_message;
};

// The check of runAsNonRoot, which is the kubelet's. The error is the message of
// CreateContainerConfigError.
tl::expected<void, std::string> check_user(const api::core::v1::Pod& pod,
                                           const api::core::v1::Container& container,
                                           const image_user& image);

// Shares, quota, memory and the score by which the kernel chooses whom to kill.
cri::LinuxContainerResources resources_of(const api::core::v1::Pod& pod,
                                          const api::core::v1::Container& container,
                                          std::int64_t node_memory_bytes);

// The error is `refused`, with CreateContainerConfigError.
runtime_result<cri::ContainerConfig> container_request(const container_config& config,
                                                       const cri_node& node,
                                                       const image_user& image,
                                                       const container_files_of_pod& files);

}  // namespace troupe::actors
