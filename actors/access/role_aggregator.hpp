// Keeps the rules of cluster roles with an aggregationRule: whenever any cluster role changes,
// those that select others are compared with what they select, and written where they differ
// (kubernetes: clusterrole-aggregation-controller).
//
// One actor for all of them, for each change of a cluster role may concern every one. What it knows
// comes from its stream and is found again after a crash. A write that conflicts, or gets no
// answer, is tried again.
#pragma once

#include <set>
#include <string>

#include "actors/access/aggregation.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"

namespace troupe::actors::access {

class role_aggregator : public informer {
 public:
  explicit role_aggregator(core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_roles(const watch_events& m);
  void settle();
  void write(const std::string& name, const api::object_ptr& role, rule_list rules);
  void written(const std::string& name, revision at);

  const core_actors core_;
  cluster_roles roles_;
  std::set<std::string> under_way_;  // names of roles that are being written
  runtime::timer again_;
};

}  // namespace troupe::actors::access
