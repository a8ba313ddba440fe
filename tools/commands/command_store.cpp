#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "persistence/repair/salvage.hpp"
#include "persistence/repair/verify.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

namespace {

// The store's folder inside a node's data folder; both are accepted.
std::string store_in(const std::string& folder) {
  const auto below = std::filesystem::path{folder} / "store";
  std::error_code bad;
  return std::filesystem::is_directory(below, bad) ? below.string() : folder;
}

int verify(const std::string& folder) {
  const auto directory = store_in(folder);
  const auto found = persistence::verify(directory);
  if (!found) return fail_with(found.error().message);
  for (const auto& each : found->problems)
    std::cerr << "troupe: " << directory << ": " << each << "\n";
  if (!found->problems.empty()) return exit_code::failed;
  std::cout << directory << ": " << found->objects << " objects at revision " << found->last
            << ", history from " << found->compacted + 1 << " with " << found->changes
            << " changes: no data is missing\n";
  return exit_code::done;
}

int salvage(const std::string& folder) {
  const auto directory = store_in(folder);
  const auto done = persistence::salvage(directory);
  if (!done) return fail_with(done.error().message);
  if (done->damage.empty()) {
    std::cout << directory << ": no data is missing; nothing was changed\n";
    return exit_code::done;
  }
  std::cout << "damage: " << done->damage << "\n";
  for (const auto& each : done->losses)
    std::cout << "  " << each << "\n";
  std::cout << "kept " << done->objects << " objects; the store continues after revision "
            << done->at << ", its history begins there\n"
            << "the damaged store is in " << done->old_directory << "\n";
  return exit_code::done;
}

void add_on_folder(program& to, CLI::App& parent, const std::string& name, const std::string& about,
                   int (*run)(const std::string&)) {
  const auto folder = std::make_shared<std::string>();
  auto& command = to.add(parent, name, about, [folder, run] { return run(*folder); });
  command.add_option("folder", *folder, "The data folder of a node that is stopped, or its store.")
      ->type_name("DIR")
      ->required();
}

}  // namespace

void add_store_command(program& to) {
  auto& store = to.add_group("store", "Checks, repairs, copies and saves the state of a cluster.");
  add_on_folder(to, store, "verify",
                "Reads the whole store and reports missing data; changes nothing.", &verify);
  add_on_folder(to, store, "salvage",
                "Keeps the readable data of a damaged store, and reports lost data.", &salvage);
  add_copy_commands(to, store);
}

}  // namespace troupe::tools
