#include "actors/scheduler/profile.hpp"

#include "actors/scheduler/registry.hpp"

namespace troupe::actors::scheduler {

namespace {

profile_options today() {
  return {.name = "today",
          .plugins = {{"SchedulingGates", 0},
                      {"PrioritySort", 0},
                      {"NodeUnschedulable", 0},
                      {"NodeName", 0},
                      {"TaintToleration", 3},
                      {"NodeAffinity", 2},
                      {"NodePorts", 0},
                      {"NodeResourcesFit", 1},
                      {"VolumeRestrictions", 0},
                      {"NodeVolumeLimits", 0},
                      {"VolumeBinding", 1},
                      {"VolumeZone", 0},
                      {"PodTopologySpread", 2},
                      {"InterPodAffinity", 2},
                      {"DefaultPreemption", 0},
                      {"NodeResourcesBalancedAllocation", 1},
                      {"ImageLocality", 1}},
          .backoff_first = defaults::backoff_first,
          .backoff_longest = defaults::backoff_longest};
}

profile_options of_2014() {
  return {.name = "2014",
          .plugins = {{"NodePorts", 0}},
          .backoff_first = defaults::backoff_first,
          .backoff_longest = defaults::backoff_longest_2014,
          .percent_of_nodes = 100};
}

std::string known_names() {
  std::string names;
  for (const auto& [name, factory] : known_plugins())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

tl::expected<profile_options, std::string> built_in_profile(const std::string& name) {
  if (name == "today") return today();
  if (name == "2014") return of_2014();
  return tl::make_unexpected("there is no scheduler profile \"" + name +
                             "\"; choose today or 2014");
}

tl::expected<std::unique_ptr<profile>, std::string> profile::make(profile_options options) {
  std::unique_ptr<profile> result{new profile};
  std::map<std::string, std::pair<plugin*, std::uint32_t>> chosen;  // with all its points
  for (const auto& choice : options.plugins) {
    auto& [made, points] = chosen[choice.name];
    points |= choice.points;
    if (made != nullptr) continue;
    const auto known = known_plugins().find(choice.name);
    if (known == known_plugins().end())
      return tl::make_unexpected("there is no scheduler plugin \"" + choice.name +
                                 "\"; known are " + known_names());
    made = result->plugins_.emplace_back(known->second()).get();
    made->index_ = result->plugins_.size() - 1;
    made->configure(options.arguments);
  }
  for (const auto& choice : options.plugins) {
    const auto& [made, points] = chosen.at(choice.name);
    result->adopt(*made, choice, points);
  }
  result->options_ = std::move(options);
  return result;
}

void profile::adopt(plugin& p, const plugin_choice& choice, std::uint32_t all_points) {
  const auto here = [&](std::uint32_t point) { return (choice.points & point) != 0; };
  const auto anywhere = [&](std::uint32_t point) { return (all_points & point) != 0; };
  if (auto* gate = dynamic_cast<pre_enqueue_plugin*>(&p); gate && here(at_pre_enqueue))
    gates_.push_back(gate);
  if (auto* order = dynamic_cast<queue_sort_plugin*>(&p); order && here(at_queue_sort))
    order_ = order;
  // Some of our plugins prepare filter and score where upstream's do not; no point disables that.
  const auto* filter = anywhere(at_filter) ? dynamic_cast<filter_plugin*>(&p) : nullptr;
  const auto* before =
      anywhere(at_pre_filter | at_filter) ? dynamic_cast<pre_filter_plugin*>(&p) : nullptr;
  if (filter != nullptr ? here(at_filter) : before != nullptr && here(at_pre_filter))
    filters_.push_back({filter, before, &p});
  if (auto* score = dynamic_cast<score_plugin*>(&p);
      score != nullptr && choice.weight > 0 && here(at_score))
    scores_.push_back({score, dynamic_cast<pre_score_plugin*>(&p), &p, choice.weight});
  if (auto* reserve = dynamic_cast<reserve_plugin*>(&p); reserve && here(at_reserve))
    reserves_.push_back(reserve);
  if (auto* before_bind = dynamic_cast<pre_bind_plugin*>(&p); before_bind && here(at_pre_bind))
    pre_binders_.push_back(before_bind);
  if (auto* binder = dynamic_cast<bind_plugin*>(&p); binder && here(at_bind))
    binders_.push_back(binder);
  if (auto* post = dynamic_cast<post_filter_plugin*>(&p); post && here(at_post_filter))
    post_filters_.push_back(post);
}

}  // namespace troupe::actors::scheduler
