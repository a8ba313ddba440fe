// The kubelet: the node's side of the cluster. Registers its Node, keeps its Lease, and has one
// worker for each pod that is bound to it.
//
// It reaches the cluster through two actors, the writer and the watcher; on a joined machine these
// are gateways. What runs is known to the container runtime: a node that was killed finds its
// containers again and goes on. When this actor crashes its workers keep running and are adopted.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/kubelet/node/node_agent.hpp"
#include "actors/kubelet/node/node_facts.hpp"
#include "actors/kubelet/node/shutdown_plan.hpp"
#include "actors/kubelet/pressure/pressure_monitor.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

struct kubelet_options {
  std::string node;
  // What runs its containers, and the jobs that set up their volumes.
  std::shared_ptr<container_runtime> containers;
  std::shared_ptr<job_queue> jobs;
  // Takes request_token, for its pods; null: they get none.
  runtime::actor_ref tokens = {};
  pod_guard guard = {};  // of the network of pods with addresses of their own
  // Made by make_root (pod_files.hpp), and this kubelet's alone: what it does not know it ends.
  std::filesystem::path root_dir;
  // Directories that no container may reach: the root directory, and the node's data with its keys.
  std::vector<std::string> hidden;
  std::string address = "127.0.0.1";
  // Of the key by which other control planes know this machine (node_identity.hpp); empty: its Node
  // is left as joining made it.
  std::string node_key = {};
  local_api api = {};
  int max_pods = 110;
  std::string version;  // status.nodeInfo.kubeletVersion
  // False: no volume is in memory even where the machine would allow it.
  bool may_mount = true;
  // How often the directories of pods are compared with the pods.
  runtime::duration orphan_sweep = kubelet_defaults::orphan_sweep;
  // How often volumes with a limit are measured.
  runtime::duration volume_measuring = kubelet_defaults::volume_measuring;
  reserved_resources reserved = {};
  // When pods are evicted for want of something; absent: never, and no condition says so.
  std::optional<eviction_thresholds> evictions = {};
  runtime::duration pressure_period = kubelet_defaults::pressure_period;
  std::function<node_supplies()> read_supplies = {};  // empty: of the machine
  shutdown_times shutdown = {};
  node_timing timing;
};

// The threads of `kubelet_options::jobs`.
std::shared_ptr<job_queue> make_kubelet_jobs();

// Reads what the machine is: not for an actor's thread.
runtime::actor_ref spawn_kubelet(runtime::actor_system& system, const core_actors& to,
                                 kubelet_options options);

// A request to the kubelet of a machine that is no (longer) part of the cluster: ends all that runs
// here, at once, and takes up nothing more. Answered when nothing is left, to everyone who asked:
// also what only the disk knows of has ended then.
struct end_pods {};
struct pods_ended {};

// Repeats `end_pods` until it is done, through crashes of the kubelet, or `limit` is over; `done`
// gets whether it is done.
void end_all_pods(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                  runtime::duration limit, std::function<void(bool)> done);

// A request to the kubelet of a machine that shuts down: the node is not ready any more, and its
// pods fail, the critical ones last (shutdown_plan.hpp). Answered when they have ended or have no
// more time.
struct shut_down {};
struct pods_shut_down {};

// As end_all_pods.
void shut_down_pods(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                    runtime::duration limit, std::function<void(bool)> done);

class kubelet : public node_agent {
 public:
  kubelet(kubelet_options options, node_facts facts, core_actors to, kubelet_helpers helpers);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct known_pod {
    runtime::actor_ref worker;  // null while the pod is not admitted
    api::object_ptr object;     // null for a pod that was removed while no node ran
    std::uint64_t request = 0;  // that made this state, where one did
    revision at = 0;
    bool gone = false;
    bool rejecting = false;  // that it is not taken is being written, or on its way here
    // What is set aside for it, from when it is taken; and what of it its worker was told.
    std::shared_ptr<const pod_allocation> allocation, told;
  };
  struct pods_listed {
    std::vector<std::string> uids;
  };
  struct pods_found {
    std::vector<std::string> uids;
  };

  void on_pods(const watch_events& m);
  void count(const known_pod& pod);
  scheduler::pod_info_ptr info_of(const known_pod& pod) const;
  void admit_pods();
  void take(known_pod& pod);
  void resize_pods();
  bool resize(known_pod& pod);
  void reject(known_pod& pod, const pod_failure& failure);
  void on_worker_started(const worker_started& m);
  void on_pods_listed(const pods_listed& m);
  void on_pods_found(const pods_found& m);
  void on_child_ended(const runtime::child_ended& m);
  void on_pressures_seen(const pressures_seen& m);
  void on_list_running_pods(const list_running_pods&, runtime::promise<running_pods> answer);
  void on_evict_pod(const evict_pod& m);
  void on_end_pods(const end_pods&, runtime::promise<pods_ended> answer);
  void on_shut_down(const shut_down&, runtime::promise<pods_shut_down> answer);
  void begin_shutdown();
  void begin_shutdown_step();
  void end_shutdown_step(const char* reason);
  void look_at_shutdown();
  void answer_shut_down();
  void watch_pressure(const runtime::actor_ref& meter);
  void describe_pressure(api::core::v1::NodeStatus& status) const;
  void adopt_workers();
  void sweep_orphans();
  void list_leftovers();
  void answer_if_ended();
  void notify_worker(known_pod& pod);
  runtime::actor_ref worker_for(const std::string& name, const std::string& key,
                                const std::string& uid);
  void describe_node(api::core::v1::Node& node) const override;
  reserved_resources reserved() const override { return options_.reserved; }
  void node_changed() override;

  const kubelet_options options_;
  const node_facts facts_;
  const std::shared_ptr<kubelet_context> context_;
  std::unordered_map<std::string, known_pod> pods_;  // by uid
  std::vector<std::string> waiting_;                 // uids of pods that are to be admitted
  std::vector<std::string> resizing_;  // of those that ask for other than is set aside
  scheduler::cluster_view node_view_;  // the node, with the pods that are admitted
  std::set<shortage> pressures_;
  bool synced_ = false, ending_ = false;
  bool leftovers_known_ = false;                            // since `ending_`
  std::vector<runtime::promise<pods_ended>> end_requests_;  // while `ending_`
  bool shutting_down_ = false;
  std::deque<shutdown_step> shutdown_steps_;  // the one under way first
  std::vector<runtime::promise<pods_shut_down>> shutdown_requests_;
  runtime::timer sweep_, admission_, listing_, runtime_check_, step_end_;
};

}  // namespace troupe::actors
