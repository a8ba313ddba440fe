#include "tools/command_line/config_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "actors/control_plane/controller_selection.hpp"
#include "actors/scheduler/registry.hpp"
#include "api/removed_versions.hpp"
#include "config/nearest.hpp"
#include "config/render.hpp"
#include "tools/command_line/program.hpp"

namespace troupe::tools {

namespace {

// The placeholder for the value in help; completion depends on it.
std::string type_name(const config::setting& row) {
  switch (row.at.form) {
    case config::form::count:
      return "N";
    case config::form::duration:
      return "DURATION";
    case config::form::size:
      return "SIZE";
    case config::form::address:
      return "HOST:PORT";
    case config::form::ip_address:
      return "IP";
    case config::form::path:
      return row.file ? "FILE" : "DIR";
    case config::form::dns_name:
      return "NAME";
    case config::form::names:
      return "NAME,...";
    case config::form::weights:
      return "NAME=N,...";
    case config::form::choice:
      break;
  }
  std::string result;
  for (const auto word : row.at.choices)
    result.append(result.empty() ? "" : "|").append(word);
  return result;
}

std::string description(const config::setting& row) {
  return std::string(row.about) + " Default: " + config::default_text(row) + ".";
}

// Checks that config/ cannot make: the names of the scheduler's plugins.
config::problems unknown_plugins(const config::loaded_config& loaded) {
  std::vector<std::string> known;
  std::string all;
  for (const auto& [name, factory] : actors::scheduler::known_plugins()) {
    all += (known.empty() ? "; known are " : ", ") + name;
    known.push_back(name);
  }
  config::problems out;
  const auto check = [&](const char* key, const std::string& name) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const auto near = config::suggestion(name, known);
    out.push_back(loaded.sources.find(key)->second + ": " + key +
                  ": there is no scheduler plugin \"" + name + "\"" + (near.empty() ? all : near));
  };
  const auto& wanted = loaded.config.scheduler;
  for (const auto& name : wanted.enabled)
    check("scheduler.enabled", name);
  for (const auto& name : wanted.disabled)
    check("scheduler.disabled", name);
  for (const auto& [name, weight] : wanted.weights)
    check("scheduler.weights", name);
  return out;
}

// The same for the names of controllers.
config::problems unknown_controllers(const config::loaded_config& loaded) {
  config::problems out;
  for (const auto& name : actors::unknown_controllers(loaded.config.controllers)) {
    const auto bare = name.starts_with('-') ? name.substr(1) : name;
    const auto& known = actors::controller_names();
    const auto near = config::suggestion(bare, known);
    out.push_back(
        fmt::format("{}: controllers: there is no controller \"{}\"{}",
                    loaded.sources.find("controllers")->second, bare,
                    near.empty() ? fmt::format("; known are {}", fmt::join(known, ", ")) : near));
  }
  if (loaded.config.controllers.empty())
    out.push_back("controllers: expected \"*\", NAME or -NAME; found an empty list");
  return out;
}

}  // namespace

config_flags::config_flags(CLI::App& to) {
  to.add_option("--config", file_, "The configuration file. Default: none.")->type_name("FILE");
  for (const auto& row : config::table()) {
    const auto name = config::flag_name(row);
    auto& flag = flags_[name];
    flag.option = to.add_option("--" + name, flag.text, description(row))
                      ->type_name(type_name(row))
                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  // Lists that config/ does not know. Built only for help: it loads the tables of all kinds.
  to.footer([] {
    return fmt::format("Controllers are {}.", fmt::join(actors::controller_names(), ", "));
  });
}

tl::expected<config::loaded_config, int> config_flags::load() const {
  auto from = config::process_inputs();
  from.file = file_;
  for (const auto& [name, flag] : flags_) {
    if (flag.option->count() > 0) from.flags.emplace_back(name, flag.text);
  }
  auto loaded = config::load(from);
  // Here, since the names of controllers are the first to use kinds.
  if (loaded && loaded->config.server.removed_versions == config::removed_versions::on)
    api::serve_removed_versions();
  auto problems = loaded ? unknown_plugins(*loaded) : loaded.error();
  if (loaded)
    for (auto& line : unknown_controllers(*loaded))
      problems.push_back(std::move(line));
  if (problems.empty()) return *std::move(loaded);
  for (const auto& line : problems)
    std::cerr << "troupe: " << line << "\n";
  return tl::make_unexpected(exit_code::usage);
}

}  // namespace troupe::tools
