// A scheduling profile: its plugins with order and weights, and the back-off of rejected
// pods.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/framework/arguments.hpp"
#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/framework/framework.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors::scheduler {

// Extension points by their names in upstream's configuration.
enum extension_point : std::uint32_t {
  at_pre_enqueue = 1u << 0,
  at_queue_sort = 1u << 1,
  at_pre_filter = 1u << 2,
  at_filter = 1u << 3,
  at_post_filter = 1u << 4,
  at_pre_score = 1u << 5,
  at_score = 1u << 6,
  at_reserve = 1u << 7,
  at_permit = 1u << 8,
  at_pre_bind = 1u << 9,
  at_bind = 1u << 10,
  at_post_bind = 1u << 11,
  at_all_points = ~0u,
};

// A plugin may be listed several times with different points; the profile has one instance.
struct plugin_choice {
  std::string name;
  std::int64_t weight = 1;  // of its score; 0 if it has none
  std::uint32_t points = at_all_points;
};

struct profile_options {
  std::string name;
  // Pods with this spec.schedulerName use the profile.
  std::string scheduler_name = defaults::scheduler_name;
  // At each point they are called in this order; at preFilter in that of filter.
  std::vector<plugin_choice> plugins;
  plugin_arguments arguments = {};
  runtime::duration backoff_first;
  runtime::duration backoff_longest;
  // The search stops when this percentage of nodes is feasible (upstream's
  // percentageOfNodesToScore); 0: a percentage that decreases with the number of nodes.
  std::int64_t percent_of_nodes = 0;
  // True: one of the best nodes at random; false: the first.
  bool random_among_best = true;
};

// "today": upstream's default plugins and weights. "2014": hostPort conflicts only, random fit,
// back-off to 60 s (kubernetes v0.4). The error lists the known profiles.
tl::expected<profile_options, std::string> built_in_profile(const std::string& name);

// The plugins of a profile, instantiated and sorted by extension point.
class profile {
 public:
  struct scored {
    const score_plugin* plugin;
    const pre_score_plugin* prepare;  // may be null
    const scheduler::plugin* as_plugin;
    std::int64_t weight;
  };
  struct filtered {
    const filter_plugin* plugin;       // null: called only at preFilter
    const pre_filter_plugin* prepare;  // may be null
    const scheduler::plugin* as_plugin;
  };

  // An unknown plugin is an error that lists the known ones.
  static tl::expected<std::unique_ptr<profile>, std::string> make(profile_options options);

  const profile_options& options() const noexcept { return options_; }
  std::size_t size() const noexcept { return plugins_.size(); }
  const std::vector<const pre_enqueue_plugin*>& gates() const noexcept { return gates_; }
  const queue_sort_plugin* order() const noexcept { return order_; }
  const std::vector<filtered>& filters() const noexcept { return filters_; }
  const std::vector<scored>& scores() const noexcept { return scores_; }
  const std::vector<reserve_plugin*>& reserves() const noexcept { return reserves_; }
  const std::vector<const pre_bind_plugin*>& pre_binders() const noexcept { return pre_binders_; }
  const std::vector<bind_plugin*>& binders() const noexcept { return binders_; }
  const std::vector<const post_filter_plugin*>& post_filters() const noexcept {
    return post_filters_;
  }

 private:
  profile() = default;
  // `points`: the points of this choice; `all_points`: of all choices of the plugin.
  void adopt(plugin& p, const plugin_choice& choice, std::uint32_t all_points);

  profile_options options_;
  std::vector<std::unique_ptr<plugin>> plugins_;
  std::vector<const pre_enqueue_plugin*> gates_;
  const queue_sort_plugin* order_ = nullptr;
  std::vector<filtered> filters_;
  std::vector<scored> scores_;
  std::vector<reserve_plugin*> reserves_;
  std::vector<const pre_bind_plugin*> pre_binders_;
  std::vector<bind_plugin*> binders_;
  std::vector<const post_filter_plugin*> post_filters_;
};

}  // namespace troupe::actors::scheduler
