#include "tools/command_line/wait_flags.hpp"

#include "config/units.hpp"

namespace troupe::tools {

void add_duration(CLI::App& to, const std::string& name, wait::duration& into,
                  const std::string& about, wait::duration least) {
  to.add_option_function<std::string>(
        name,
        [&into, name, least](const std::string& text) {
          const auto value = config::parse_duration(text);
          if (!value || *value < config::duration{0})
            throw CLI::ValidationError{
                name, "\"" + text + "\" is not a duration: expected a form such as 30s or 1m30s"};
          if (*value < least)
            throw CLI::ValidationError{
                name, "\"" + text + "\" is too short: at least " + config::print(least)};
          into = *value;
        },
        about + " Default: " + config::print(into) + ".")
      ->type_name("DURATION");
}

void add_namespace(CLI::App& to, std::string& into) {
  to.add_option("-n,--namespace", into, "Where the objects are. Default: " + into + ".")
      ->type_name("NAMESPACE");
}

}  // namespace troupe::tools
