// The commands of a kubectl according to its own help, and which of them have a transcript.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

// The names below the headings about commands in a help text, without plugins.
std::vector<std::string> commands_in(std::string_view help);

// Returns kubectl's help for a command, "rollout undo"; its main help if that is empty.
using help_reader = std::function<std::string(const std::string& command)>;

// The commands without subcommands, "rollout undo", in the order of the help.
std::vector<std::string> commands_of(const help_reader& help);

// Whether the shell text calls that command, as "kubectl rollout undo ...".
bool calls(std::string_view script, std::string_view command);

// A command without a transcript for these versions of kubectl, and the reason.
struct unplayed_command {
  std::string versions;  // as in a transcript
  std::string command;
  std::string reason;
};

// Lines as "{<1.27} rollout undo: reason"; others begin with #. Throws std::runtime_error that
// names the line.
std::vector<unplayed_command> parse_unplayed(std::string_view text);

}  // namespace troupe::test
