// The objects that every node, real or simulated, writes about itself: its Node and the Lease that
// shows it is alive (kubernetes: kubelet_node_status.go, nodelease).
//
// Keeps the newest states of the two by their own streams. A write that meets a newer state is
// dropped: that state is on its way here and is answered in turn. One that failed for a reason that
// may pass (the link to the control plane is down, the disk is full) is made again.
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

// How a node keeps in touch.
struct node_timing {
  runtime::duration lease_duration = kubelet_defaults::lease_duration;
  runtime::duration lease_renewal = kubelet_defaults::lease_renewal;
  // How often the Node is written when nothing has changed (kubernetes: nodeStatusReportFrequency).
  runtime::duration report_period = kubelet_defaults::node_report_period;
};

class node_agent : public informer {
 protected:
  node_agent(std::string node, core_actors to, node_timing timing);

  // Begins both streams; for the derived class's started().
  void follow_node();

  // Fills in what the node says of itself: capacity (what is not reserved is allocatable),
  // addresses, nodeInfo, conditions and labels. What others wrote (taints, labels of users) stays.
  virtual void describe_node(api::core::v1::Node& node) const = 0;
  virtual reserved_resources reserved() const { return {}; }
  // Writes the Node if what it should say differs from what it says; `report`: in any case, with
  // the time in its conditions.
  void refresh_node(bool report = false);
  // The newest state; null while there is none.
  const api::object_ptr& node_object() const noexcept { return node_object_; }
  // The Node as it stands now shows the condition Ready as True.
  bool shown_ready() const;
  // It shows no sign of life and writes nothing while this holds; node_returns() ends that.
  virtual bool is_silent() const { return false; }
  void node_returns();
  // Called when the Node has changed.
  virtual void node_changed() {}
  // A write of that object, or its removal, failed for a reason that may pass; null: it was new.
  virtual void write_failed(const api::kind_info& kind, const api::object_ptr& before);

  // Writes `content` over `before`, or creates the object where that is null.
  void write(const api::kind_info& kind, const api::object_ptr& before,
             std::unique_ptr<api::body> content);
  void remove(const api::object_ptr& object);

  const std::string& node() const noexcept { return node_; }
  const core_actors& to() const noexcept { return to_; }

 private:
  // Does `work` once in each period, first at a random time of it, so that a thousand nodes do not
  // write in one instant.
  void begin_somewhere(runtime::timer& timer, runtime::duration period, std::function<void()> work);
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
  bool lease_missed_ = false;  // a renewal met a newer Lease that has not come yet
  runtime::timer renewal_, report_, node_again_, lease_again_;
};

}  // namespace troupe::actors
