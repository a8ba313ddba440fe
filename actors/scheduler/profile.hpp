// Which plugins take part, in which order and with which weight, and how long a pod waits after it
// was refused.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/framework/framework.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors::scheduler {

struct plugin_choice {
  std::string name;
  std::int64_t weight = 1;  // of its score; 0 where it has none
};

struct profile_options {
  std::string name;
  std::vector<plugin_choice> plugins;
  runtime::duration backoff_first;
  runtime::duration backoff_longest;
  // Nodes are scored until enough feasible ones are found (upstream's percentageOfNodesToScore), or
  // all of them.
  bool sample_nodes = true;
  // One of the best is taken at random; else the first.
  bool random_among_best = true;
};

// "today": upstream's default plugins and weights. "2014": hostPort conflicts only, random fit,
// back-off to 60 s (kubernetes v0.4). An error names the profiles there are.
tl::expected<profile_options, std::string> built_in_profile(const std::string& name);

// The plugins of a profile, made and sorted by extension point.
class profile {
 public:
  struct scored {
    const score_plugin* plugin;
    const pre_score_plugin* prepare;  // may be null
    const scheduler::plugin* as_plugin;
    std::int64_t weight;
  };
  struct filtered {
    const filter_plugin* plugin;
    const pre_filter_plugin* prepare;  // may be null
    const scheduler::plugin* as_plugin;
  };

  // An unknown name is refused, and the known ones are named.
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
  void adopt(std::unique_ptr<plugin> made, std::int64_t weight);

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
