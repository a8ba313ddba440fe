// The supervisor of the pods' actors: starts one for each pod, brings it the changes of its pod and
// of its pod's node, and ends it when the pod has gone. Removes the oldest terminated pods when
// there are too many of them.
//
// A change of a node goes to its pods only when it matters to them: the node came, went, or has
// other taints.
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
  bool nodes_known_ = false;        // all that there are
  bool complete_ = false;           // the present state has been seen whole
  runtime::timer round_;
};

}  // namespace troupe::actors
