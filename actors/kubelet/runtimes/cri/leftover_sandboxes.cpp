#include "actors/kubelet/runtimes/cri/leftover_sandboxes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <optional>

#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "actors/kubelet/runtimes/cri/pod_groups.hpp"
#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

fs::path memory_of(const fs::path& root_dir) {
  return root_dir / "cri-socket";
}

// Removes one sandbox; the error is the runtime's.
std::optional<grpc_error> remove_sandbox(cri_client& client, const std::string& id) {
  cri::PodSandboxId request;
  request.set_pod_sandbox_id(id);
  for (const auto* method : {"StopPodSandbox", "RemovePodSandbox"})
    if (const auto done = wait_for<cri::Nothing>(client, method, request);
        !done && done.error().code != grpc_code::not_found)
      return done.error();
  return std::nullopt;
}

tl::expected<void, std::string> remove_all(cri_client& client, const fs::path& root_dir) {
  cri::ListPodSandboxRequest all;
  (*all.mutable_filter()->mutable_label_selector())[cri_labels::root_dir] =
      fs::absolute(root_dir).string();
  const auto found = wait_for<cri::ListPodSandboxResponse>(client, "ListPodSandbox", all);
  if (!found) return tl::make_unexpected(found.error().message);
  std::string problem;
  for (const auto& sandbox : found->items()) {
    if (const auto failed = remove_sandbox(client, sandbox.id()))
      problem = fmt::format("pod {}: {}", sandbox.metadata().name(), failed->message);
    else
      remove_pod_groups(sandbox.metadata().uid());
  }
  if (!problem.empty()) return tl::make_unexpected(std::move(problem));
  return {};
}

}  // namespace

void remember_runtime(const fs::path& root_dir, const std::string& socket) {
  std::error_code ignored;
  fs::create_directories(root_dir, ignored);
  std::ofstream{memory_of(root_dir)} << socket << '\n';
}

tl::expected<void, std::string> end_leftover_sandboxes(const fs::path& root_dir) {
  const auto memory = memory_of(root_dir);
  std::string socket;
  if (!std::getline(std::ifstream{memory}, socket)) return {};
  std::error_code ignored;
  // A pod's directory is removed last.
  if (pods_on_disk(root_dir).empty()) {
    fs::remove(memory, ignored);
    return {};
  }
  const auto loop = std::make_shared<event_loop>();
  cri_client client{loop, socket};
  auto removed = remove_all(client, root_dir);
  loop->stop();
  if (!removed)
    return tl::make_unexpected(fmt::format(
        "containers of this machine's pods are left in the container runtime at {} ({}): start it "
        "and leave again; if it is gone for good, remove {} first",
        socket, removed.error(), memory.string()));
  fs::remove(memory, ignored);
  return {};
}

}  // namespace troupe::actors
