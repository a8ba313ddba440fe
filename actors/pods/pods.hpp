// The supervisor of the pods' actors: starts one for each pod, forwards the events of the pod and
// its node, and stops it when the pod is deleted. Deletes evicted and the oldest terminated pods
// if there are too many.
//
// A node event is forwarded only if it matters to the pods: the node was added, deleted or its
// taints changed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"
#include "actors/defaults.hpp"
#include "actors/pods/pod.hpp"
#include "actors/pods/pod_counts.hpp"

namespace troupe::actors {

struct pods_options {
  std::size_t terminated_kept = defaults::terminated_pods_kept;
  std::size_t removed_in_round = 2'000;  // the others in the next rounds
};

class pods : public informer {
 public:
  pods(runtime::actor_ref watcher, pod_context context, pods_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct row {
    runtime::actor_ref actor;
    std::string node;
    bool terminated = false;
  };

  void on_pods(const watch_events& m);
  void on_nodes(const watch_events& m);
  void on_count_pods(const count_pods&, runtime::promise<pod_counts> answer);

  void take_pod(const std::string& name, const watch_event& event);
  void remove_pod(const std::string& name);
  void place(const std::string& name, row& r, const std::string& node);
  void remove_terminated();

  std::shared_ptr<const pod_context> context_;
  pods_options options_;
  std::unordered_map<std::string, row> rows_;                               // by "namespace/name"
  std::unordered_map<std::string, std::vector<std::string_view>> by_node_;  // keys of rows_
  std::size_t terminated_ = 0;
  persistence::revision seen_ = 0;  // the newest change of a pod
  bool nodes_known_ = false;        // the nodes' initial state is complete
  bool complete_ = false;           // the pods' initial state is complete
  runtime::timer round_;
};

}  // namespace troupe::actors
