// The commands of a kubectl as its own help lists them, and which of them have a transcript.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

// The names below the headings of a help text that speak of commands; plugins are not among them.
std::vector<std::string> commands_in(std::string_view help);

// What kubectl prints as the help of a command, "rollout undo"; of itself when that is empty.
using help_reader = std::function<std::string(const std::string& command)>;

// The commands without commands below them, "rollout undo", in the order of the help.
std::vector<std::string> commands_of(const help_reader& help);

// Whether the shell's text calls that command, as "kubectl rollout undo ...".
bool calls(std::string_view script, std::string_view command);

// Why a command has no transcript with such versions of kubectl.
struct unplayed_command {
  std::string versions;  // as in a transcript
  std::string command;
  std::string reason;
};

// Lines as "{<1.27} rollout undo: reason"; others begin with #. Throws std::runtime_error that
// names the line.
std::vector<unplayed_command> parse_unplayed(std::string_view text);

}  // namespace troupe::test
