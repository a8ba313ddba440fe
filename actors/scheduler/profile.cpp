#include "actors/scheduler/profile.hpp"

#include "actors/scheduler/framework/defaults.hpp"
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
                      {"VolumeBinding", 0},
                      {"VolumeZone", 0},
                      {"PodTopologySpread", 2},
                      {"InterPodAffinity", 2},
                      {"DefaultPreemption", 0},
                      {"ImageLocality", 1},
                      {"NodeResourcesBalancedAllocation", 1}},
          .backoff_first = defaults::backoff_first,
          .backoff_longest = defaults::backoff_longest};
}

profile_options of_2014() {
  return {.name = "2014",
          .plugins = {{"NodePorts", 0}},
          .backoff_first = defaults::backoff_first,
          .backoff_longest = defaults::backoff_longest_2014,
          .sample_nodes = false};
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
  for (const auto& choice : options.plugins) {
    const auto known = known_plugins().find(choice.name);
    if (known == known_plugins().end())
      return tl::make_unexpected("there is no scheduler plugin \"" + choice.name +
                                 "\"; known are " + known_names());
    result->adopt(known->second(), choice.weight);
  }
  result->options_ = std::move(options);
  return result;
}

void profile::adopt(std::unique_ptr<plugin> made, std::int64_t weight) {
  auto* p = made.get();
  p->index_ = plugins_.size();
  if (const auto* gate = dynamic_cast<const pre_enqueue_plugin*>(p)) gates_.push_back(gate);
  if (const auto* order = dynamic_cast<const queue_sort_plugin*>(p)) order_ = order;
  if (const auto* filter = dynamic_cast<const filter_plugin*>(p))
    filters_.push_back({filter, dynamic_cast<const pre_filter_plugin*>(p), p});
  if (const auto* score = dynamic_cast<const score_plugin*>(p); score != nullptr && weight > 0)
    scores_.push_back({score, dynamic_cast<const pre_score_plugin*>(p), p, weight});
  if (auto* reserve = dynamic_cast<reserve_plugin*>(p)) reserves_.push_back(reserve);
  if (const auto* before = dynamic_cast<const pre_bind_plugin*>(p)) pre_binders_.push_back(before);
  if (auto* binder = dynamic_cast<bind_plugin*>(p)) binders_.push_back(binder);
  if (const auto* post = dynamic_cast<const post_filter_plugin*>(p)) post_filters_.push_back(post);
  plugins_.push_back(std::move(made));
}

}  // namespace troupe::actors::scheduler
