// One pod on this machine: sets up its volumes, starts its containers in order, probes them,
// restarts them by policy and back-off, ends them with grace, and reports its status (kubernetes:
// pod_workers.go).
//
// One actor for each pod, by uid. It owns what it has seen of the containers; after a restart of
// the actor or of the whole node it finds them again by their directories, and the pod by asking
// the kubelet. The newest state of the pod wins, one sync runs at a time, and a sync that throws
// restarts this actor alone.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/doors.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/health_checks.hpp"
#include "actors/kubelet/pod_containers.hpp"
#include "actors/kubelet/pod_env.hpp"
#include "actors/kubelet/pod_files.hpp"
#include "actors/kubelet/pod_volumes.hpp"
#include "actors/kubelet/prober.hpp"
#include "actors/kubelet/process_runtime.hpp"
#include "actors/kubelet/references.hpp"
#include "actors/messages.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// What outlives a crash of the kubelet's actor, as its workers do: made once (`spawn_kubelet`), the
// same for all lives of all of them.
struct kubelet_helpers {
  // These have threads of their own.
  std::shared_ptr<process_runtime> containers;
  std::shared_ptr<health_checks> probes, hooks;
  // The Node shows that it is ready: what runs here counts. The kubelet alone writes it.
  std::shared_ptr<std::atomic<bool>> node_ready = std::make_shared<std::atomic<bool>>(false);
};

// What all workers of a kubelet share. A worker keeps what it was made with: what may change or end
// with a life of the kubelet's actor has no place here.
struct kubelet_surroundings {
  doors to;
  kubelet_helpers helpers;
  runtime::actor_ref kubelet, references;
  std::filesystem::path root_dir;
  std::string node;
  std::string boot_id;
  pod_place place;
  api::core::v1::NodeStatus machine;  // what it has
  bool may_mount = false;
  std::int64_t pod_pids_limit = 0;
  machine_rights rights;            // what it may give to containers
  std::vector<std::string> hidden;  // directories that no container may reach
  runtime::duration volume_measuring = kubelet_defaults::volume_measuring;
};

// To the kubelet: a worker has begun, perhaps again, and asks for the state of its pod.
struct worker_began {
  std::string uid;
};

class pod_worker : public runtime::actor {
 public:
  pod_worker(std::string key, std::string uid, std::shared_ptr<const kubelet_surroundings> around);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct surveyed {
    std::vector<process_runtime::found> found;
  };
  struct container_news {
    std::string container;
    int attempt;
    container_change change;
  };
  struct hook_news {
    std::string container;
    int attempt;
    bool at_start;
    health_answer answer;
  };
  struct volumes_news {
    volumes_set_up result;
  };
  struct volumes_measured {
    std::optional<pod_verdict> verdict;
  };
  struct torn_down {};

  // -- messages -----------------------------------------------------------------------------------
  void on_own_change(const own_change& m);
  void on_surveyed(const surveyed& m);
  void on_reference_news(const reference_news& m);
  void on_container_news(const container_news& m);
  void on_probe_news(const probe_news& m);
  void on_hook_news(const hook_news& m);
  void on_volumes_news(const volumes_news& m);
  void on_volumes_measured(const volumes_measured& m);
  void on_torn_down(const torn_down&);

  // -- one sync -----------------------------------------------------------------------------------
  void sync();
  void begin();
  void wind_down();
  void arm_timer();
  bool terminating() const;
  bool all_ended() const;

  // -- containers ---------------------------------------------------------------------------------
  void adopt(const process_runtime::found& found);
  void run_containers();
  void heed_image(container_record& record);
  void await_restart(container_record& record);
  void start(container_record& record);
  void refuse(container_record& record, const char* reason, std::string message);
  void has_ended(container_record& record, const container_exit& exit);
  void end_containers(runtime::duration grace);
  void end_container(container_record& record, runtime::duration grace, const std::string& why);
  void carry_out(container_record& record, stop_step step);
  runtime::duration grace_left() const;
  runtime::duration own_grace() const;

  // -- health -------------------------------------------------------------------------------------
  void expect_health(container_record& record) const;
  void now_runs(container_record& record);
  void end_prober(const container_record& record);
  void run_hook(const container_record& record, const api::core::v1::LifecycleHandler& hook,
                bool at_start, runtime::duration timeout);
  bool has_stop_hook(const container_record& record) const;
  void fail_container(container_record& record, runtime::duration grace, const std::string& why);
  void say_what_is_unsupported();

  // -- what the pod refers to, and its volumes ----------------------------------------------------
  void ask_for_references();
  bool references_known() const;
  object_reader known_references() const;
  void look_at_volumes();
  void measure_volumes();
  void place_volumes(const api::core::v1::Container& container, container_spec& spec) const;
  api::core::v1::Pod placed_pod() const;

  // -- telling ------------------------------------------------------------------------------------
  void report();
  bool status_is_newest() const;
  api::core::v1::PodStatus status_now() const;
  void remove_pod();
  void record_pod_event(bool warning, std::string reason, std::string message,
                        const std::string& container = {});
  persistence::change_cause cause_of_write() const;

  container_record* find_record(const std::string& container);
  const api::core::v1::Container* spec_of(const container_record& record) const;
  std::filesystem::path pod_dir() const { return pod_path(around_->root_dir, uid_); }
  container_dir dir_of(const container_record& record) const;
  const api::core::v1::Pod& pod() const { return object_->as<api::core::v1::Pod>(); }
  container_observer observer(const std::string& container, int attempt);

  const std::string key_, uid_;
  const std::shared_ptr<const kubelet_surroundings> around_;
  api::object_ptr object_;     // the newest state; kept after the pod has gone
  std::uint64_t request_ = 0;  // that made this state, where one did
  bool told_ = false;          // by the kubelet, of the pod's state
  bool gone_ = false;          // removed from the store: nothing is left to report
  std::optional<surveyed> survey_;
  // Volumes: whether they stand, are being set up, and are to be looked at again.
  bool volumes_ready_ = false, volumes_working_ = false, volumes_stale_ = true;
  bool measuring_ = false;
  runtime::time_point volumes_retry_at_{};
  runtime::duration volumes_backoff_{0};
  std::map<std::string, std::string> places_;  // of the volumes, by name
  bool begun_ = false, tearing_down_ = false, torn_down_ = false;
  bool reporting_ = false, removing_ = false;
  std::optional<pod_verdict> verdict_;
  std::vector<container_record> containers_;
  std::map<std::string, api::object_ptr> references_;  // by key; null: there is none
  std::vector<std::string> needed_;                    // keys
  std::map<std::string, runtime::timer> hook_timers_;  // hooks that sleep, by container
  runtime::timer next_, retry_, measure_;
};

}  // namespace troupe::actors
