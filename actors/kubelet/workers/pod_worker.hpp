// One pod on this machine: sets up its volumes, starts its containers in order, probes them,
// restarts them by policy and back-off, ends them with grace, and reports its status (kubernetes:
// pod_workers.go).
//
// One actor for each pod, by uid. It owns the observed state of the containers and recovers
// it from the container runtime after a restart, the pod from the kubelet. The newest state
// of the pod wins, one sync runs at a time, and a sync that throws restarts only this
// actor.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/messages.hpp"
#include "actors/core/metrics.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/health/health_checker.hpp"
#include "actors/kubelet/health/prober.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/pods/pod_resize.hpp"
#include "actors/kubelet/pressure/pressure_monitor.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "actors/kubelet/volumes/pod_volumes.hpp"
#include "actors/kubelet/workers/defaults.hpp"
#include "actors/kubelet/workers/references.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// Called before the first container of a pod starts in a sandbox with its own addresses: `done`
// receives an empty text when the pod's network rules are in force, else the reason.
using pod_guard =
    std::function<void(const api::object_ptr& pod, const std::vector<std::string>& addresses,
                       std::function<void(std::string problem)> done)>;

// Helpers that outlive a crash of the kubelet's actor, as its workers do: created once
// (`spawn_kubelet`) and shared by all restarts.
struct kubelet_helpers {
  // Each has its own threads. Jobs of one pod, by uid, run in order.
  std::shared_ptr<container_runtime> containers;
  std::shared_ptr<job_queue> jobs;
  std::shared_ptr<health_checker> probes, hooks;
  // The stored Node is ready, so pods may become ready. Written by the kubelet only.
  std::shared_ptr<std::atomic<bool>> node_ready = std::make_shared<std::atomic<bool>>(false);
};

// Shared by all workers of a kubelet. A worker keeps the context it was created with, so it must
// not hold anything that changes or ends with the kubelet's actor.
struct kubelet_context {
  core_actors to;
  kubelet_helpers helpers;
  runtime::actor_ref kubelet, references;
  runtime::actor_ref tokens;  // answers request_token; null: pods get no tokens
  std::filesystem::path root_dir;
  std::string node;
  pod_addresses addresses;
  local_api api;
  api::core::v1::NodeStatus machine;  // the machine's capacity
  bool may_mount = false;             // volumes in memory are possible
  pod_guard guard;                    // empty: no network rules here
  std::vector<std::string> hidden;    // directories that no container may reach
  runtime::duration storage_measuring = kubelet_defaults::storage_measuring;
  runtime::duration event_repetition = worker_defaults::event_repetition;
  runtime::duration least_kill_limit = kubelet_defaults::least_kill_limit;
};

// To the kubelet: a worker has started or restarted and requests the state of its pod.
struct worker_started {
  std::string uid;
};

// From the kubelet, before the first state of a pod and after each change of its allocation.
struct allocation_changed {
  std::shared_ptr<const pod_allocation> allocation;
};

class pod_worker : public runtime::actor {
 public:
  pod_worker(std::string key, std::string uid, std::shared_ptr<const kubelet_context> context);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct surveyed {
    found_pod found;
  };
  // Marks requests of this worker: the answers to those of a crashed worker reach the next one.
  struct lifetime {};
  using lifetime_ref = std::shared_ptr<const lifetime>;
  struct sandbox_event {
    lifetime_ref requester;
    std::string id;  // the followed sandbox; empty: one that was requested
    sandbox_change change;
  };
  struct guard_event {
    std::string sandbox;
    std::string problem;  // empty: the rules are in force
  };
  // The runtime's answers during the start of a container.
  struct pulling_event {
    std::string container;
  };
  struct image_event {
    lifetime_ref requester;
    std::string container;
    runtime_result<available_image> image;
  };
  struct created_event {
    lifetime_ref requester;
    std::string container;
    runtime_result<std::string> id;
  };
  struct container_event {
    std::string container, id;
    container_change change;
  };
  struct hook_event {
    std::string container;
    int attempt;
    bool at_start;
    health_result result;
  };
  struct volumes_event {
    volumes_set_up result;
  };
  // A token in the pod's volumes, or one that is being requested.
  struct held_token {
    std::string text;  // empty: none yet
    bool asked = false;
    runtime::time_point ask_at{};
    runtime::duration backoff{0};
  };
  struct resized_event {
    std::shared_ptr<const pod_allocation> to;
    std::vector<resize_request::container> containers;
    std::string problem;  // empty: applied
  };
  struct storage_measured {
    std::optional<pod_failure> failure;
  };
  struct kill_failed {
    std::string container;  // empty: the sandbox
    std::string id;
    std::string problem;
  };
  struct containers_removed {
    std::string problem;
  };
  struct torn_down {};

  // -- messages -----------------------------------------------------------------------------------
  void on_owner_event(const owner_event& m);
  void on_surveyed(const surveyed& m);
  void on_reference_event(const reference_event& m);
  void on_sandbox_event(const sandbox_event& m);
  void on_guard_event(const guard_event& m);
  void on_pulling_event(const pulling_event& m);
  void on_image_event(const image_event& m);
  void on_created_event(const created_event& m);
  void on_container_event(const container_event& m);
  void on_probe_event(const probe_event& m);
  void on_hook_event(const hook_event& m);
  void on_volumes_event(const volumes_event& m);
  void on_storage_measured(const storage_measured& m);
  void on_allocation_changed(const allocation_changed& m);
  void on_resized_event(const resized_event& m);
  void on_evict_pod(const evict_pod& m);
  void on_kill_failed(const kill_failed& m);
  void on_containers_removed(const containers_removed& m);
  void on_torn_down(const torn_down&);

  // -- one sync -----------------------------------------------------------------------------------
  void sync();
  void begin();
  void add_ephemeral_containers();
  void fail_pod(const pod_failure& failure);
  void end_pod();
  void arm_timer();
  bool terminating() const;
  bool starts_nothing() const;
  bool all_ended() const;

  // -- containers ---------------------------------------------------------------------------------
  void adopt(const found_container& found);
  bool sandbox_ready();
  bool waits_for_network();
  tl::expected<std::string, std::string> runtime_handler() const;
  void leave_former_sandbox();
  void use_sandbox(const sandbox_status& ready);
  bool guarded();
  sandbox_observer observe_sandbox(const std::string& id);
  void run_containers();
  void release_address();
  void check_image(container_record& record);
  void await_restart(container_record& record);
  void start(container_record& record);
  tl::expected<std::string, std::string> target_of(const container_record& record) const;
  void refuse(container_record& record, const runtime_error& error);
  void on_exit(container_record& record, const container_exit& exit);
  void end_containers(runtime::duration grace);
  void end_container(container_record& record, runtime::duration grace, const std::string& message);
  void execute(container_record& record, stop_step step);
  runtime::duration deletion_grace() const;
  runtime::duration own_grace() const;

  // -- resources (pod_worker_resize.cpp) ----------------------------------------------------------
  void take_object(api::object_ptr object);
  bool resize_due() const;
  bool group_due() const;
  bool differs(const container_record& record) const;
  void resize_containers();
  bool restart_for_resize();

  // -- health -------------------------------------------------------------------------------------
  void reset_health(container_record& record) const;
  void on_running(container_record& record);
  void end_prober(const container_record& record);
  void run_hook(const container_record& record, const api::core::v1::LifecycleHandler& hook,
                bool at_start, runtime::duration timeout);
  bool has_stop_hook(const container_record& record) const;
  void fail_container(container_record& record, runtime::duration grace,
                      const std::string& message);
  void report_unsupported();

  // -- referenced objects and volumes -----------------------------------------------------------
  void need_references_of_pod();
  void request_references();
  void follow_volume_of(const api::object_ptr& claim);
  bool references_known() const;
  object_reader reference_reader() const;
  std::vector<api::object_ptr> pull_secrets();
  void request_tokens();
  void take_token(const projected_token& wanted, const api::expected<granted_token>& result);
  bool tokens_known() const;
  pod_tokens newest_tokens() const;
  void sync_volumes();
  void measure_storage();
  tl::expected<void, std::string> place_volumes(const api::core::v1::Container& container,
                                                container_config& config) const;
  api::core::v1::Pod placed_pod() const;

  // -- report -------------------------------------------------------------------------------------
  void report();
  bool status_is_newest() const;
  api::core::v1::PodStatus status_now() const;
  void count_running();
  void remove_pod();
  void record_pod_event(bool warning, std::string reason, std::string message,
                        const std::string& container = {});
  persistence::change_cause cause_of_write() const;

  container_record* find_record(const std::string& container);
  std::shared_ptr<const api::core::v1::Container> spec_of(const container_record& record) const;
  container_runtime& containers() const { return *context_->helpers.containers; }
  std::filesystem::path pod_dir() const { return pod_path(context_->root_dir, uid_); }
  const api::core::v1::Pod& pod() const { return object_->as<api::core::v1::Pod>(); }
  container_observer observer(const container_record& record);

  const std::string key_, uid_;
  const std::shared_ptr<const kubelet_context> context_;
  const lifetime_ref lifetime_ = std::make_shared<lifetime>();
  api::object_ptr object_;     // the newest state; kept after the pod is removed
  api::object_ptr allocated_;  // with the allocated resources, from which containers start
  std::uint64_t request_ = 0;  // request that made this state; 0: unknown
  bool state_known_ = false;   // the kubelet has sent the pod's state
  bool gone_ = false;          // removed from the store: nothing more to report
  std::optional<surveyed> survey_;
  std::optional<sandbox_status> sandbox_;  // the ready one
  bool sandbox_asked_ = false;
  runtime::time_point sandbox_retry_at_{};
  std::shared_ptr<const pod_allocation> allocation_;
  std::optional<container_resources> group_;  // of the pod's control group; absent: unknown
  bool resizing_ = false;
  std::string resize_problem_;  // of the last attempt; empty: no error
  runtime::time_point resize_retry_at_{};
  std::string guarded_sandbox_;  // its id
  runtime::time_point guard_ask_at_{};
  pod_addresses addresses_;
  // Whether the volumes are set up, are being set up, and must be updated.
  bool volumes_ready_ = false, volumes_working_ = false, volumes_stale_ = true;
  bool measuring_ = false;
  runtime::time_point volumes_retry_at_{};
  runtime::duration volumes_backoff_{0};
  std::map<std::string, std::string> volume_paths_, device_paths_;  // by volume name
  bool begun_ = false, tearing_down_ = false, torn_down_ = false;
  bool reporting_ = false, removing_ = false;
  std::optional<pod_failure> failure_;
  std::vector<container_record> containers_;
  gauge_share running_containers_{metrics_of_kubelet().running_containers};
  gauge_share running_pods_{metrics_of_kubelet().running_pods};
  runtime::time_point begun_at_{};
  // Containers that are being created, by name: their image or id is awaited.
  std::map<std::string, container_config> making_;
  std::map<std::string, api::object_ptr> references_;  // by key; null: no such object
  std::shared_ptr<const object_list> services_;        // of its namespace; null: unknown
  std::vector<std::string> needed_;                    // keys
  bool sandboxes_stopped_ = false;                     // the pod has finished
  std::size_t ephemeral_known_ = 0;                    // count of those already added from the spec
  std::map<projected_token, held_token> tokens_;
  std::map<std::string, runtime::timer> hook_timers_;  // running sleep hooks, by container
  // When events of failures were sent last, those of refused containers by name.
  std::map<std::string, runtime::time_point> refusals_recorded_;
  runtime::time_point kill_failure_recorded_at_{};
  std::optional<runtime::time_point> network_recorded_at_;
  runtime::timer next_, retry_, measure_, kill_limit_;
};

}  // namespace troupe::actors
