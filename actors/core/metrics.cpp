#include "actors/core/metrics.hpp"

#include <algorithm>

namespace troupe::actors {
namespace {

// kubernetes: kuberuntime/instrumented_services.go.
std::array<runtime_operation, 26> operations{
    {{"Version", "version", {}, {}},
     {"Status", "status", {}, {}},
     {"RunPodSandbox", "run_podsandbox", {}, {}},
     {"StopPodSandbox", "stop_podsandbox", {}, {}},
     {"RemovePodSandbox", "remove_podsandbox", {}, {}},
     {"PodSandboxStatus", "podsandbox_status", {}, {}},
     {"ListPodSandbox", "list_podsandbox", {}, {}},
     {"CreateContainer", "create_container", {}, {}},
     {"StartContainer", "start_container", {}, {}},
     {"StopContainer", "stop_container", {}, {}},
     {"RemoveContainer", "remove_container", {}, {}},
     {"ListContainers", "list_containers", {}, {}},
     {"ContainerStatus", "container_status", {}, {}},
     {"UpdateContainerResources", "update_container", {}, {}},
     {"ReopenContainerLog", "reopen_container_log", {}, {}},
     {"ExecSync", "exec_sync", {}, {}},
     {"Exec", "exec", {}, {}},
     {"Attach", "attach", {}, {}},
     {"PortForward", "port_forward", {}, {}},
     {"ListContainerStats", "list_container_stats", {}, {}},
     {"ContainerStats", "container_stats", {}, {}},
     {"ListImages", "list_images", {}, {}},
     {"ImageStatus", "image_status", {}, {}},
     {"PullImage", "pull_image", {}, {}},
     {"RemoveImage", "remove_image", {}, {}},
     {"ImageFsInfo", "image_fs_info", {}, {}}}};

}  // namespace

runtime_operation* find_runtime_operation(std::string_view method) noexcept {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const auto& each) { return each.method == method; });
  return found == operations.end() ? nullptr : &*found;
}

std::span<runtime_operation> runtime_operations() noexcept {
  return operations;
}

}  // namespace troupe::actors
