#include <iostream>
#include <memory>
#include <random>

#include "api/values/uid.hpp"
#include "tools/client/rolling_update.hpp"
#include "tools/command_line/access_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/interruptible_clock.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

struct update_flags {
  explicit update_flags(CLI::App& command) : access{command} {}

  access_flags access;
  rolling_update_options options;
  std::string image;
};

std::string new_mark() {
  std::mt19937_64 random{std::random_device{}()};
  return api::generated_uid(random);
}

int run(update_flags& given) {
  const auto cluster = given.access.connect();
  if (!cluster) return fail_with(cluster.error());
  interruptible_clock clock;
  if (!given.image.empty()) given.options.image = given.image;
  given.options.mark = new_mark();
  return exit_code_of(rolling_update(**cluster, clock, given.options, [](const std::string& line) {
    std::cout << line << std::endl;
  }));
}

}  // namespace

void add_rolling_update_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<update_flags>>();
  auto& command = to.add(
      "rolling-update",
      "Replaces the pods of a replication controller one by one, and waits until all are replaced.",
      [flags] { return run(**flags); });
  *flags = std::make_unique<update_flags>(command);
  auto& given = **flags;
  auto& options = given.options;
  command.add_option("controller", options.controller, "The replication controller.")
      ->required()
      ->type_name("RC");
  command
      .add_option("--image", given.image,
                  "The new image of its only container. Replaces an unfinished update to another "
                  "image; the old image rolls it back.")
      ->type_name("IMAGE")
      ->check([](const std::string& text) {
        return text.empty() ? std::string{"expected the name of an image"} : std::string{};
      });
  add_namespace(command, options.ns);
  add_duration(command, "--update-period", options.update_period,
               "How long to wait after each pod.");
  add_duration(command, "--poll", options.poll, "The period between checks for the new pod.",
               defaults::min_poll);
  add_duration(command, "--timeout", options.timeout,
               "The longest time that a new pod may take; 0 is forever.");
}

}  // namespace troupe::tools
