// Removes the directories of this node's local volumes that go, and lets the volumes go then
// (docs/decisions/0064-claims.md).
//
// One actor, child of the kubelet. It follows the volumes; one that is deleted, bound no more and
// to be removed with its data (policy Delete) loses the finalizer once its directory is gone. A
// directory that a pod still has is tried again, as is what failed.
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
