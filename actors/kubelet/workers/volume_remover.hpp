// Removes the directories of this node's released local volumes, then their finalizers
// (docs/decisions/0064-claims.md).
//
// One actor, child of the kubelet. It watches the volumes; one that is deleted, no longer bound and
// has policy Delete loses its finalizer once its directory is removed. A directory that a pod still
// uses, or whose removal failed, is retried.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/volumes/local_volumes.hpp"

namespace troupe::actors {

class volume_remover : public informer {
 public:
  volume_remover(core_actors to, std::string node, std::filesystem::path root_dir,
                 std::shared_ptr<job_queue> jobs);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct removed {
    std::string key;
    volume_removal result;
  };

  void on_volumes(const watch_events& m);
  void on_removed(const removed& m);
  void remove(const std::string& key);
  void release(const api::object_ptr& volume);

  const core_actors to_;
  const std::string node_;
  const std::filesystem::path root_dir_;
  const std::shared_ptr<job_queue> jobs_;
  std::map<std::string, api::object_ptr> leaving_;  // by key
  std::set<std::string> under_way_;                 // keys
  std::uint64_t removed_ = 0;
  runtime::timer again_;
};

}  // namespace troupe::actors
