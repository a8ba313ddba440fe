// The kubelet: the node's side of the cluster. Registers its Node, keeps its Lease, and has one
// worker for each pod that is bound to it.
//
// It knows the cluster through two doors, the writer and the watcher, and through `read` for what
// pods refer to (config maps, secrets); on a joined machine gateways stand there. What runs is kept
// in the pods' directories: a node that was killed finds its containers again and goes on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "actors/control_plane.hpp"
#include "actors/kubelet/node_agent.hpp"
#include "actors/kubelet/pod_worker.hpp"

namespace troupe::actors {

struct kubelet_options {
  std::string node;
  std::filesystem::path root_dir;  // made with mode 0750
  std::string address = "127.0.0.1";
  int max_pods = 110;
  std::string version;  // status.nodeInfo.kubeletVersion
  // What to start with `container-shim DIR`; empty: this very program.
  std::string program;
  object_reader read;
  node_timing timing;
};

runtime::actor_ref spawn_kubelet(runtime::system& company, const doors& to,
                                 kubelet_options options);

class kubelet : public node_agent {
 public:
  kubelet(kubelet_options options, doors to, std::shared_ptr<process_runtime> containers);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_pods(const watch_events& m);
  void on_child_ended(const runtime::child_ended& m);
  void take_orphans();
  void describe_node(api::core::v1::Node& node) const override;

  const kubelet_options options_;
  std::shared_ptr<process_runtime> containers_;
  std::unique_ptr<kubelet_surroundings> around_;
  std::unordered_map<std::string, runtime::actor_ref> workers_;  // by uid of the pod
  bool orphans_taken_ = false;
};

}  // namespace troupe::actors
