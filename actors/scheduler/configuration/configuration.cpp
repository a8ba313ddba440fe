#include "actors/scheduler/configuration/configuration.hpp"

#include <fmt/format.h>

#include <set>

#include "actors/core/settings_file.hpp"
#include "actors/scheduler/configuration/plugin_config.hpp"
#include "actors/scheduler/configuration/plugin_sets.hpp"
#include "api/files/kubescheduler.pb.h"
#include "api/values/syntax.hpp"

namespace troupe::actors::scheduler {

namespace {

namespace file = api::files::kubescheduler;

std::vector<std::string> without_meaning(const file::KubeSchedulerConfiguration& from) {
  std::vector<std::string> names;
  if (from.has_parallelism()) names.emplace_back("parallelism");
  if (from.has_leader_election()) names.emplace_back("leaderElection");
  if (from.has_client_connection()) names.emplace_back("clientConnection");
  if (from.has_enable_profiling()) names.emplace_back("enableProfiling");
  if (from.has_enable_contention_profiling()) names.emplace_back("enableContentionProfiling");
  if (from.has_delay_cache_until_active()) names.emplace_back("delayCacheUntilActive");
  return names;
}

profile_options read_profile(const file::KubeSchedulerConfiguration& all,
                             const file::KubeSchedulerProfile& from, const std::string& path,
                             problems& found) {
  profile_options result;
  if (!from.scheduler_name().empty()) result.scheduler_name = from.scheduler_name();
  for (const auto& complaint : api::check_dns_subdomain(result.scheduler_name))
    found.push_back(fmt::format("{}.schedulerName: {}", path, complaint));
  result.name = "of " + result.scheduler_name;
  result.plugins = choose_plugins(from.plugins(), path + ".plugins", found);
  result.arguments = read_plugin_config(from.plugin_config(), path + ".pluginConfig", found);
  result.backoff_first = std::chrono::seconds{all.pod_initial_backoff_seconds()};
  result.backoff_longest = std::chrono::seconds{all.pod_max_backoff_seconds()};
  result.percent_of_nodes = from.has_percentage_of_nodes_to_score()
                                ? from.percentage_of_nodes_to_score()
                                : all.percentage_of_nodes_to_score();
  return result;
}

// One queue holds the pods of all profiles, so their order must be the same.
std::string order_of(const profile_options& profile) {
  for (const auto& each : profile.plugins)
    if ((each.points & at_queue_sort) != 0) return each.name;
  return {};
}

void check_profiles(const std::vector<profile_options>& profiles, problems& found) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto& each = profiles[i];
    if (!names.insert(each.scheduler_name).second)
      found.push_back(
          fmt::format("profiles[{}].schedulerName: another profile has the name {} already", i,
                      each.scheduler_name));
    if (order_of(each) != order_of(profiles.front()))
      found.push_back(fmt::format(
          "profiles[{}].plugins.queueSort: must be the same in all profiles: there is one queue",
          i));
  }
}

}  // namespace

tl::expected<configuration, std::vector<std::string>> parse_configuration(std::string_view yaml) {
  file::KubeSchedulerConfiguration from;
  auto found = read_settings(yaml, {configuration_version, "KubeSchedulerConfiguration"}, from);
  if (!found.empty()) return tl::make_unexpected(std::move(found));
  if (from.extenders_size() > 0)
    found.emplace_back(
        "extenders: services that are asked about nodes are not supported: a plugin of this "
        "program does the same without a call (docs/writing-a-scheduler-plugin.md)");
  if (from.pod_max_backoff_seconds() < from.pod_initial_backoff_seconds())
    found.emplace_back("podMaxBackoffSeconds: must not be less than podInitialBackoffSeconds");
  if (from.profiles_size() > defaults::most_profiles)
    return tl::make_unexpected(
        problems{fmt::format("profiles: there may be {} at most", defaults::most_profiles)});
  if (from.profiles_size() == 0) from.add_profiles();
  configuration result;
  result.ignored = without_meaning(from);
  for (int i = 0; i < from.profiles_size(); ++i)
    result.profiles.push_back(
        read_profile(from, from.profiles(i), fmt::format("profiles[{}]", i), found));
  if (found.empty()) check_profiles(result.profiles, found);
  if (!found.empty()) return tl::make_unexpected(std::move(found));
  return result;
}

}  // namespace troupe::actors::scheduler
