// The scheduling algorithm: finds the best node for one pod with the plugins of a profile. Pure
// except for the plugins and the random choice among equal nodes.
#pragma once

#include <random>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/framework/cluster_view.hpp"
#include "actors/scheduler/framework/framework.hpp"
#include "actors/scheduler/profile.hpp"

namespace troupe::actors::scheduler {

// Why no node fits the pod, in upstream's wording, and possible remedies.
struct fit_error {
  // "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {…}."
  std::string message;
  // Events that may help: the union of the rejecting plugins' cluster_event bits.
  std::uint32_t helped_by = any_event;
  // A node and the victims to evict from it, if PostFilter found any.
  preemption make_room;
};

class algorithm final : public framework_handle {
 public:
  explicit algorithm(const scheduler::profile& profile) : profile_{profile} {}

  // Returns the node to bind to. Exceptions of plugins propagate.
  tl::expected<std::string, fit_error> schedule(const pod_info_ptr& pod, const cluster_view& view,
                                                std::mt19937_64& random);

  // -- for PostFilter plugins
  std::size_t plugins() const noexcept override { return profile_.size(); }
  status run_pre_filters(cycle& notes, const pod_info& pod,
                         const cluster_view& view) const override;
  status run_filters(const cycle& notes, const pod_info& pod, const node_info& node) const override;
  void adjust(const cycle& notes, const pod_info& pod, const cluster_view& view,
              const pod_info& other, const node_info& node, int by) const override;

 private:
  // Runs PreFilter of all plugins. A rejection applies to all nodes.
  status prepare(cycle& notes, const pod_info& pod, const cluster_view& view);
  // `notes` come from `prepare` for the same pod. If it returns false, `refused` is the reason, and
  // `refusing` the plugin.
  bool fits(const cycle& notes, const pod_info& pod, const node_info& node, status& refused,
            const plugin*& refusing) const;
  std::vector<const node_info*> feasible(const cycle& notes, const pod_info& pod,
                                         const cluster_view& view);
  std::string best(cycle& notes, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>& nodes, std::mt19937_64& random);
  // `by_all`: the reason of a rejection for all nodes, which is not counted by node.
  fit_error explain(const pod_info_ptr& pod, const cluster_view& view, std::vector<status> refused,
                    const std::string& by_all = {});

  const scheduler::profile& profile_;
  std::vector<status> refused_;  // by index in view.nodes(); stale for nodes that fit
  std::vector<const profile::filtered*> active_;  // the filters that the current pod needs
  std::vector<const plugin*> refusing_;           // the plugins that rejected it
  std::size_t next_start_ = 0;                    // where the search for feasible nodes starts
};

}  // namespace troupe::actors::scheduler
