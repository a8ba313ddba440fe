// The kubelet: the node's side of the cluster. It registers its Node, renews its Lease, and has one
// worker for each pod that is bound to the node.
//
// It reaches the cluster through two actors, the writer and the watcher; on a joined machine these
// are gateways. The container runtime knows which containers run: a node that was killed finds and
// adopts them. When this actor crashes its workers keep running and are adopted too.
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
  // The runtime of its containers, and the queue of the jobs that set up their volumes.
  std::shared_ptr<container_runtime> containers;
  std::shared_ptr<job_queue> jobs;
  // The actor that answers request_token for pods; null: pods get no tokens.
  runtime::actor_ref tokens = {};
  pod_guard guard = {};  // network rules of pods with their own address
  // What is wrong with the network that this node gives its pods: shown by the condition
  // NetworkUnavailable. An empty text: nothing; no text: not known yet. Empty function: the node
  // gives them none.
  std::function<std::optional<std::string>()> network_problem = {};
  // Created by make_root (pod_files.hpp), used by this kubelet only: unknown pods in it are ended.
  std::filesystem::path root_dir;
  // Directories no container may reach: the root directory, and the node's data with its keys.
  std::vector<std::string> hidden;
  std::string address = "127.0.0.1";
  std::string second_address = {};  // of the other family; empty: none
  // Hash of the public key by which other control planes know this machine (node_identity.hpp);
  // empty: the hash that joining wrote into the Node stays.
  std::string node_key = {};
  // False: the machine has no rules for Services.
  bool has_service_rules = true;
  local_api api = {};
  int max_pods = 110;
  std::string version;  // status.nodeInfo.kubeletVersion
  // False: no volume is kept in memory, even if the machine allows it.
  bool may_mount = true;
  // How often the pod directories on the disk are compared with the known pods.
  runtime::duration orphan_sweep = kubelet_defaults::orphan_sweep;
  // How often the storage of pods that have limits of it is measured.
  runtime::duration storage_measuring = kubelet_defaults::storage_measuring;
  runtime::duration event_repetition = worker_defaults::event_repetition;
  // A pod that fails gets an event if its containers have not ended after this, or longer.
  runtime::duration least_kill_limit = kubelet_defaults::least_kill_limit;
  reserved_resources reserved = {};
  // Shortages at which pods are evicted; absent: never, and the Node has no pressure conditions.
  std::optional<eviction_thresholds> evictions = {};
  runtime::duration pressure_period = kubelet_defaults::pressure_period;
  std::function<node_supplies()> read_supplies = {};  // empty: read from the machine
  std::vector<std::string> unsafe_sysctls = {};       // feature_admission.hpp
  shutdown_times shutdown = {};
  node_timing timing;
};

// Creates the threads of `kubelet_options::jobs`.
std::shared_ptr<job_queue> make_kubelet_jobs();

// Reads facts about the machine, which blocks: do not call it on an actor's thread.
runtime::actor_ref spawn_kubelet(runtime::actor_system& system, const core_actors& to,
                                 kubelet_options options);

// Request to the kubelet of a machine that is not (or no longer) part of the cluster: it ends all
// pods on the machine at once and admits no more. All requesters are answered when no pod is left,
// including pods that are known from the disk only.
struct end_pods {};
struct pods_ended {};

// Repeats `end_pods` until it is answered, even if the kubelet crashes, or until `limit` has
// passed; `done` receives whether it was answered.
void end_all_pods(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                  runtime::duration limit, std::function<void(bool)> done);

// Request to the kubelet of a machine that shuts down: the node becomes not ready, and its pods
// fail, the critical ones last (shutdown_plan.hpp). Answered when all have ended or their time is
// over.
struct shut_down {};
struct pods_shut_down {};

// Repeats `shut_down` like end_all_pods.
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
    std::uint64_t request = 0;  // request that made this state; 0: unknown
    revision at = 0;
    bool gone = false;
    bool rejecting = false;  // its rejection is being written, or not yet in the watch stream
    // Resources allocated to the pod since its admission; the allocation last sent to the worker.
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
  void share_cpu();
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
  void shut_down_in_step(const known_pod& pod);
  void end_shutdown_step(const char* reason);
  void check_shutdown();
  void answer_shut_down();
  std::function<node_supplies()> supplies_reader() const;
  void watch_pressure(const runtime::actor_ref& meter);
  void describe_pressure(api::core::v1::NodeStatus& status) const;
  bool has_new_network_problem();
  void describe_network(api::core::v1::NodeStatus& status) const;
  void adopt_workers();
  void sweep_orphans();
  void list_leftovers();
  void answer_if_ended();
  void notify_worker(known_pod& pod);
  void check_runtime();
  void record_node_events();
  void record_node_event(bool warning, std::string reason, std::string message);
  runtime::actor_ref worker_for(const std::string& name, const std::string& key,
                                const std::string& uid);
  void describe_node(api::core::v1::Node& node) const override;
  reserved_resources reserved() const override { return options_.reserved; }
  void node_changed() override;

  const kubelet_options options_;
  const node_facts facts_;
  const std::shared_ptr<kubelet_context> context_;
  std::unordered_map<std::string, known_pod> pods_;  // by uid
  std::vector<std::string> waiting_;                 // uids of pods that wait for admission
  std::vector<std::string> resizing_;  // pods whose requests differ from their allocation
  scheduler::cluster_view node_view_;  // the node, with its admitted pods
  api::object_ptr recorded_node_;      // whose changes are events; null: not seen yet
  std::string image_problem_;          // the last one that was an event
  std::set<shortage> pressures_;
  std::optional<std::string> network_problem_;
  std::optional<std::int64_t> burstable_milli_cpu_;  // the last that the runtime was told
  bool synced_ = false, ending_ = false;
  bool listing_pods_ = false;                               // the runtime has not answered yet
  bool leftovers_known_ = false;                            // since `ending_`
  std::vector<runtime::promise<pods_ended>> end_requests_;  // while `ending_`
  bool shutting_down_ = false;
  std::deque<shutdown_step> shutdown_steps_;  // the current step first
  std::vector<runtime::promise<pods_shut_down>> shutdown_requests_;
  runtime::timer sweep_, admission_, listing_, runtime_check_, step_end_;
};

}  // namespace troupe::actors
