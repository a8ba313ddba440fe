// Shared parts of the commands that create, list and delete credentials: troupe token, troupe
// user.
#pragma once

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "tools/command_line/program.hpp"

namespace troupe::tools {

// "2026-11-23T12:00:00Z", with " (over)" if it has passed; "never" if there is none.
std::string expiry_text(const std::optional<std::chrono::system_clock::time_point>& expires);

// A subcommand with flags of its own: the constructor of `Flags` adds them to the command.
template <class Flags>
std::pair<CLI::App&, Flags&> add_subcommand(program& to, CLI::App& parent, const char* name,
                                            const char* about,
                                            tl::expected<void, std::string> (*run)(const Flags&)) {
  const auto flags = std::make_shared<std::unique_ptr<Flags>>();
  auto& command = to.add(parent, name, about, [flags, run] { return exit_code_of(run(**flags)); });
  *flags = std::make_unique<Flags>(command);
  return {command, **flags};
}

}  // namespace troupe::tools
