// Watches the machine's remaining resources and evicts pods when they run short: a child actor of
// the kubelet with the name of the node (kubernetes: eviction_manager.go).
//
// Each round reads the machine in a job, tells the kubelet which conditions hold, and evicts one
// pod while a threshold is passed: the next one in a later round, if still needed. For the disk it
// first has the runtime remove unused images, and reads the machine again. It owns the times at
// which each threshold was passed; after a crash it starts without any.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/pressure/pressure_rules.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "api/object/object.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// To the kubelet, every round: the conditions that hold.
struct pressures_seen {
  std::set<shortage> holding;
};
// To the kubelet: requests the pods that run here.
struct list_running_pods {};
struct running_pods {
  std::vector<api::object_ptr> pods;
};
// To the kubelet, and from there to the pod's worker.
struct evict_pod {
  std::string uid;
  pod_failure failure;
};

struct pressure_setup {
  runtime::actor_ref kubelet, meter;
  std::shared_ptr<job_queue> jobs;
  std::shared_ptr<usage_source> containers;
  std::filesystem::path root_dir;
  eviction_thresholds thresholds;
  runtime::duration period = kubelet_defaults::pressure_period;
  // Reads the machine's resources; runs in a job.
  std::function<node_supplies()> read;
  // container_runtime::free_disk
  std::function<void(node_disk, std::function<void()> done)> free_disk;
};

class pressure_monitor : public runtime::actor {
 public:
  explicit pressure_monitor(pressure_setup setup) : setup_{std::move(setup)} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct supplies_read {
    node_supplies supplies;
  };
  // Marks a request to free the disk: a late answer is not one to the next request.
  struct freeing {};
  using freeing_ref = std::shared_ptr<const freeing>;
  struct disk_freed {
    freeing_ref request;
  };
  struct pods_measured {
    std::vector<std::int64_t> used;  // of the candidates, in the same order
  };

  void check();
  void log_changes(const std::vector<passed_threshold>& passed,
                   const std::set<shortage>& holding) const;
  void on_supplies_read(const supplies_read& m);
  void on_disk_freed(const disk_freed& m);
  void on_pods_measured(const pods_measured& m);
  void free_disk(node_disk of);
  void end_freeing();
  void make_room(const passed_threshold& of);
  void measure(std::vector<api::object_ptr> pods);
  void measure_disk(std::vector<std::string> uids);
  bool lacks_inodes() const { return threshold_.resource == inodes_resource; }
  void evict_first();

  const pressure_setup setup_;
  pressure_memory memory_;
  std::set<shortage> told_;
  node_supplies last_;
  // The current round: the shortage, and the candidates for eviction.
  passed_threshold threshold_;
  std::vector<pod_consumption> candidates_;
  // The uid of the last evicted pod while a threshold is passed; empty: no pod could be evicted.
  std::optional<std::string> last_choice_;
  bool looking_ = false, making_room_ = false;
  // The disk was freed for the shortage, which the next reading judges; one that had begun before
  // is repeated.
  bool disk_freed_ = false, read_again_ = false;
  freeing_ref freeing_;  // null: the disk is not being freed
  runtime::timer rounds_, freeing_limit_;
};

}  // namespace troupe::actors
