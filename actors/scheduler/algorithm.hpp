// NextPod → Algorithm → Bind: the middle. Finds the best node for one pod with the plugins of a
// profile; pure but for the plugins and the random choice among equals.
#pragma once

#include <random>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/framework/cluster_view.hpp"
#include "actors/scheduler/framework/framework.hpp"
#include "actors/scheduler/profile.hpp"

namespace troupe::actors::scheduler {

// Why no node took the pod, in upstream's words, and what to do about it.
struct misfit {
  // "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {…}."
  std::string message;
  // What may help: the union of the refusing plugins' cluster_event bits.
  std::uint32_t helped_by = any_event;
  // A node and the pods that must leave it, when PostFilter found any.
  preemption make_room;
};

class algorithm final : public framework_handle {
 public:
  explicit algorithm(const scheduler::profile& profile) : profile_{profile} {}

  // The node to bind to. A plugin that throws lets the exception pass.
  tl::expected<std::string, misfit> schedule(const pod_info_ptr& pod, const cluster_view& view,
                                             std::mt19937_64& random);

  // -- for PostFilter plugins
  std::size_t plugins() const noexcept override { return profile_.size(); }
  status run_pre_filters(cycle& notes, const pod_info& pod,
                         const cluster_view& view) const override;
  status run_filters(const cycle& notes, const pod_info& pod, const node_info& node) const override;

 private:
  // PreFilter of all plugins. A refusal holds for all nodes.
  status prepare(cycle& notes, const pod_info& pod, const cluster_view& view);
  // `notes` come from `prepare` for the same pod.
  status fits(const cycle& notes, const pod_info& pod, const node_info& node,
              const plugin** refusing = nullptr) const;
  std::vector<const node_info*> feasible(const cycle& notes, const pod_info& pod,
                                         const cluster_view& view);
  std::string best(cycle& notes, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>& nodes, std::mt19937_64& random);
  // `by_all`: the reason of a refusal that holds for all nodes, which is not counted.
  misfit explain(const pod_info_ptr& pod, const cluster_view& view, std::vector<status> refused,
                 const std::string& by_all = {});

  const scheduler::profile& profile_;
  std::vector<status> refused_;  // by place in view.nodes(); of nodes that fit it is of old
  std::vector<const profile::filtered*> active_;  // the filters that the present pod needs
  std::vector<const plugin*> refusing_;           // plugins that turned it away
  std::size_t next_start_ = 0;                    // where the search for feasible nodes begins
};

}  // namespace troupe::actors::scheduler
