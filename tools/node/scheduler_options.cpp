#include "tools/node/scheduler_options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "actors/scheduler/configuration/configuration.hpp"
#include "server/credentials/kubeconfig.hpp"

namespace troupe::tools {

namespace {

using actors::scheduler::profile_options;
using profiles = std::vector<profile_options>;

// The profile of the settings, with its plugins enabled, disabled and weighted.
tl::expected<profiles, std::string> from_settings(const config::scheduler_config& wanted) {
  auto profile = *actors::scheduler::built_in_profile(
      wanted.profile == config::scheduler_profile::y2014 ? "2014" : "today");
  auto& plugins = profile.plugins;
  for (const auto& name : wanted.enabled)
    if (std::none_of(plugins.begin(), plugins.end(), [&](const auto& p) { return p.name == name; }))
      plugins.push_back({name, 1});
  for (const auto& name : wanted.disabled)
    std::erase_if(plugins, [&](const auto& p) { return p.name == name; });
  for (auto& choice : plugins)
    if (const auto weight = wanted.weights.find(choice.name); weight != wanted.weights.end())
      choice.weight = weight->second;
  return profiles{std::move(profile)};
}

tl::expected<profiles, std::string> from_file(const config::scheduler_config& wanted) {
  if (wanted.profile != config::scheduler_profile::today || !wanted.enabled.empty() ||
      !wanted.disabled.empty() || !wanted.weights.empty())
    return tl::make_unexpected(
        "scheduler.config configures all plugins: scheduler.profile, enabled, disabled and weights "
        "cannot be set with it");
  const auto text = server::read_file(wanted.config);
  if (!text) return tl::make_unexpected(text.error());
  auto parsed = actors::scheduler::parse_configuration(*text);
  if (!parsed)
    return tl::make_unexpected(fmt::format("{} is not a scheduler configuration:\n  {}",
                                           wanted.config.string(),
                                           fmt::join(parsed.error(), "\n  ")));
  if (!parsed->ignored.empty())
    spdlog::info("scheduler: {} set in {} have no effect: the scheduler is a part of the node",
                 fmt::join(parsed->ignored, ", "), wanted.config.string());
  return std::move(parsed->profiles);
}

}  // namespace

tl::expected<profiles, std::string> make_scheduler_profiles(const config::scheduler_config& from) {
  auto result = from.config.empty() ? from_settings(from) : from_file(from);
  if (!result) return result;
  for (const auto& each : *result)
    if (auto checked = actors::scheduler::profile::make(each); !checked)
      return tl::make_unexpected(checked.error());
  return result;
}

}  // namespace troupe::tools
