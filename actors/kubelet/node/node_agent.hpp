// Base class of real and simulated nodes: writes the node's own objects, its Node and the Lease
// that shows that it is alive (kubernetes: kubelet_node_status.go, nodelease).
//
// It watches the newest states of both. A write that conflicts with a newer state is dropped: that
// state arrives by the watch and is handled then. A write that failed for a temporary reason (the
// link to the control plane is down, the disk is full) is retried.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/node/node_facts.hpp"

namespace troupe::api::core::v1 {
class Node;
}

namespace troupe::actors {

// Periods of the Node and Lease writes.
struct node_timing {
  runtime::duration lease_duration = kubelet_defaults::lease_duration;
  runtime::duration lease_renewal = kubelet_defaults::lease_renewal;
  // How often the Node is written without a change (kubernetes: nodeStatusReportFrequency).
  runtime::duration report_period = kubelet_defaults::node_report_period;
};

class node_agent : public informer {
 protected:
  node_agent(std::string node, core_actors to, node_timing timing);

  // Starts both watches; called by the derived class's started().
  void follow_node();

  // Fills in the node's own fields: capacity (allocatable is what is not reserved), addresses,
  // nodeInfo, conditions, labels. Fields of others (taints, users' labels) stay.
  virtual void describe_node(api::core::v1::Node& node) const = 0;
  virtual reserved_resources reserved() const { return {}; }
  // Writes the Node if it differs from the description; with `report` in any case, with a new
  // heartbeat time in its conditions.
  void refresh_node(bool report = false);
  // The newest state of the Node; null while there is none.
  const api::object_ptr& node_object() const noexcept { return node_object_; }
  // Whether the stored Node has the condition Ready with status True.
  bool shown_ready() const;
  // While this returns true the node sends no heartbeat and writes nothing; node_returns() ends it.
  virtual bool is_silent() const { return false; }
  void node_returns();
  // Called when the Node has changed.
  virtual void node_changed() {}
  // A write or removal of an object failed for a temporary reason; `before` is null for a create.
  virtual void write_failed(const api::kind_info& kind, const api::object_ptr& before);

  // Writes `content` over `before`, or creates the object if `before` is null.
  void write(const api::kind_info& kind, const api::object_ptr& before,
             std::unique_ptr<api::body> content);
  void remove(const api::object_ptr& object);

  const std::string& node() const noexcept { return node_; }
  const core_actors& to() const noexcept { return to_; }

 private:
  // Runs `work` once in each period, starting at a random time in it, so that a thousand nodes do
  // not write at the same time.
  void start_with_jitter(runtime::timer& timer, runtime::duration period,
                         std::function<void()> work);
  void on_node(const watch_events& m);
  void on_lease(const watch_events& m);
  void renew_lease();
  void lease_is_newer(const api::object_ptr& than);
  void commit_as_node(persistence::transaction transaction, const api::kind_info& kind,
                      const api::object_ptr& before);

  const std::string node_;
  const node_timing timing_;
  const core_actors to_;
  api::object_ptr node_object_, lease_;
  bool node_known_ = false, lease_known_ = false;
  bool lease_missed_ = false;  // a renewal conflicted with a newer Lease that has not arrived yet
  runtime::timer renewal_, report_, node_again_, lease_again_;
};

}  // namespace troupe::actors
