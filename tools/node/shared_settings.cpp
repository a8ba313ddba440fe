#include "tools/node/shared_settings.hpp"

#include <spdlog/spdlog.h>

#include <map>

#include "api/values/text_parts.hpp"
#include "config/setting.hpp"
#include "config/table.hpp"

namespace troupe::tools {

namespace {

constexpr std::string_view node_line = "node";

using setting_lines = std::map<std::string_view, std::string_view>;

setting_lines lines_in(std::string_view text) {
  setting_lines lines;
  while (!text.empty()) {
    const auto line = api::take_part(text, '\n');
    const auto blank = line.find(' ');
    if (blank != line.npos) lines.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  return lines;
}

std::string_view text_for(std::string_view value) {
  return value.empty() ? "empty" : value;
}

}  // namespace

std::string shared_settings(const config::node_config& config) {
  auto text = fmt::format("{} {}\n", node_line, config.kubelet.node_name);
  for (const auto& row : config::table())
    if (row.shared)
      text += fmt::format("--{} {}\n", config::flag_name(row), config::write(row.at.get(config)));
  return text;
}

std::vector<std::string> differences(std::string_view here, std::string_view there) {
  const auto mine = lines_in(here), others = lines_in(there);
  const auto node = others.find(node_line);
  std::vector<std::string> found;
  for (const auto& [flag, value] : mine) {
    const auto other = others.find(flag);
    if (flag == node_line || other == others.end() || other->second == value) continue;
    found.push_back(fmt::format("{} is {} here, and {} at {}, which has started last", flag,
                                text_for(value), text_for(other->second),
                                node == others.end() ? "another" : node->second));
  }
  return found;
}

void warn_of_other_settings(persistence::blocking_log& log, const config::node_config& config) {
  const std::string key{shared_settings_key};
  const auto known = log.read(key);
  if (!known) return spdlog::warn("store: settings were not compared: {}", known.error().message);
  const auto mine = shared_settings(config);
  if (*known) {
    for (const auto& each : differences(mine, (*known)->value))
      spdlog::warn("store: {}: all control planes need the same value", each);
    if ((*known)->value == mine) return;
  }
  const auto modified = *known ? (*known)->modified : 0;
  // If another control plane writes at the same time, its settings are stored.
  if (const auto stored = log.submit({{{key, modified}}, {{key, mine}}}); !stored)
    spdlog::warn("store: settings were not stored: {}", stored.error().message);
}

}  // namespace troupe::tools
