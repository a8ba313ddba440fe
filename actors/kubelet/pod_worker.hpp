// One pod on this machine: starts its containers in order, restarts them by policy and back-off,
// ends them with grace, and reports its status (kubernetes: pod_workers.go).
//
// One actor for each pod, by uid. It owns what it has seen of the containers; after a restart of
// the actor or of the whole node it finds them again by their directories. The newest state of the
// pod wins, one sync runs at a time, and a sync that throws restarts this actor alone.
#pragma once

#include <string>
#include <vector>

#include "actors/control_plane.hpp"
#include "actors/kubelet/pod_containers.hpp"
#include "actors/kubelet/pod_env.hpp"
#include "actors/kubelet/process_runtime.hpp"
#include "actors/messages.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// What all workers of a kubelet share; outlives them.
struct kubelet_surroundings {
  doors to;
  process_runtime* containers;
  object_reader read;
  std::filesystem::path root_dir;  // pods stand in root_dir/pods/UID
  std::string node;
  pod_place place;
};

// Where a container's newest log is.
std::filesystem::path log_path(const std::filesystem::path& root_dir, const std::string& pod_uid,
                               const std::string& container, int attempt);

class pod_worker : public runtime::actor {
 public:
  pod_worker(std::string key, std::string uid, const kubelet_surroundings* around);

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
  struct torn_down {};

  // -- messages -----------------------------------------------------------------------------------
  void on_own_change(const own_change& m);
  void on_surveyed(const surveyed& m);
  void on_container_news(const container_news& m);
  void on_torn_down(const torn_down&);

  // -- one sync -----------------------------------------------------------------------------------
  void sync();
  void run_containers();
  void start(container_record& record);
  void end_containers();
  bool terminating() const;
  bool all_ended() const;
  void report();
  void remove_pod();
  void arm_timer();

  container_record& record_of(const std::string& container);
  std::filesystem::path pod_dir() const;
  container_dir dir_of(const container_record& record) const;
  const api::core::v1::Pod& pod() const { return object_->as<api::core::v1::Pod>(); }
  container_observer observer(const std::string& container, int attempt);
  void record_pod_event(bool warning, std::string reason, std::string message,
                        const std::string& container);
  persistence::change_cause cause_of_write() const;

  const std::string key_, uid_;
  const kubelet_surroundings* around_;
  api::object_ptr object_;  // the newest state; kept after the pod has gone
  bool gone_ = false;       // removed from the store: nothing is left to report
  bool surveyed_ = false, torn_down_ = false, removing_ = false, told_to_end_ = false;
  std::vector<container_record> containers_;
  runtime::timer next_, kill_timer_, retry_;
};

}  // namespace troupe::actors
