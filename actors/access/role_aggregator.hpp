// The controller that keeps the rules of ClusterRoles with an aggregationRule: after each change of
// a ClusterRole it compares the aggregated roles with their selected ones and writes those that
// differ (kubernetes: clusterrole-aggregation-controller).
//
// One actor for all roles, because a change of one may affect any other. Its state comes from
// its stream and is rebuilt after a crash. A write that conflicts or gets no answer is
// retried.
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
  std::set<std::string> under_way_;  // names of roles with a write in flight
  runtime::timer again_;
};

}  // namespace troupe::actors::access
