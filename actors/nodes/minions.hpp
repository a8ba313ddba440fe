// The supervisor of the minions: starts one for each Node, sends it the events of its Node and its
// Lease, and limits the rate at which pods of failing nodes are evicted (zones.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "actors/core/informer.hpp"
#include "actors/events/event_rules.hpp"
#include "actors/nodes/minion.hpp"
#include "actors/nodes/node_rules.hpp"
#include "actors/nodes/zones.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class minions : public informer {
 public:
  // The store must outlive it.
  minions(const persistence::store* store, core_actors core, runtime::duration grace);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct row {
    runtime::actor_ref actor;
    std::string zone;
    readiness ready = readiness::missing;
    bool granted = false;         // its pods are being evicted, or may be
    bool away = false;            // the Node has the NoExecute taints
    runtime::time_point since{};  // not ready since
  };
  struct zone {
    double allowance = 1;  // in nodes; the first failing node is granted at once
    runtime::time_point counted_at{};
  };

  void on_nodes(const watch_events& m);
  void on_leases(const watch_events& m);
  void take_node(const std::string& name, const watch_event& event);
  void record_node_event(const api::object_ptr& node, const char* reason, const std::string& text);

  void round();
  void hold_all();
  void repeat_permissions();
  void grant(const std::string& zone_name, const zone_count& count);

  const persistence::store* store_;
  core_actors core_;
  const runtime::duration grace_;
  std::map<std::string, row> rows_;  // by node
  std::map<std::string, zone> zones_;
  bool complete_ = false;
  bool all_down_ = false;
  runtime::time_point resume_at_{};
  runtime::timer round_;
};

}  // namespace troupe::actors
