// The actor that queries nodes for the resource usage of themselves and their containers, for
// clients of metrics.k8s.io and for autoscalers. The node of this control plane has its own meter,
// joined nodes are queried over their links; the usage of pods on simulated nodes follows from
// their annotations and the policy (simulated_usage.hpp).
//
// It answers `query_nodes` and is stateless: a crash fails the queries in flight.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/kubelet/runtime/usage_questions.hpp"
#include "actors/link/node_links.hpp"
#include "actors/simulation/policy.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

class usage_collector : public runtime::actor {
 public:
  // The store must outlive it.
  usage_collector(const persistence::store* store, std::shared_ptr<const link_table> table,
                  runtime::actor_ref links, simulated::policy_ptr policy);

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  struct question;

  void on_query_nodes(const query_nodes& m, runtime::promise<nodes_usage> answer);
  template <class M>
  void ask(const std::shared_ptr<question>& of, const std::string& node,
           const runtime::actor_ref& to, M message);

  const persistence::store* store_;
  const std::shared_ptr<const link_table> table_;
  const runtime::actor_ref links_;
  const simulated::policy_ptr policy_;
  // Shared with the queries, which may outlive a crash.
  const std::shared_ptr<std::size_t> under_way_ = std::make_shared<std::size_t>(0);
  std::uint64_t questions_ = 0;
};

}  // namespace troupe::actors
