// Removes the job-tracking finalizer from pods whose Job was deleted, and from those that nothing
// controls: nobody will count them, and the finalizer would block their deletion (kubernetes:
// job_controller.go, syncOrphanPod).
//
// One actor. From its two streams it keeps the pods with the finalizer for each Job, by uid, and it
// reads the store before each write. A failed write is retried at the pod's next change and each
// `defaults::orphan_check`.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::jobs {

class orphan_pods : public informer {
 public:
  // The store must outlive this actor.
  orphan_pods(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_jobs(const watch_events& m);
  void on_pods(const watch_events& m);
  void sync_orphan(const std::string& pod_key);
  void sync_all_orphans();
  void release(const api::object_ptr& pod);
  void continue_work();

  const persistence::store* store_;
  const core_actors core_;
  std::unordered_map<std::string, std::set<std::string>> pods_;  // keys, by the uid of their job
  std::unordered_map<std::string, std::string> job_of_;  // uid of the job, by key of the pod
  std::set<std::string> orphans_;                        // keys of pods to release
  std::size_t under_way_ = 0;
  runtime::timer again_;
  std::uint64_t released_ = 0;
};

}  // namespace troupe::actors::jobs
