// The commands of the console: parses a line that a user typed into a request. Pure.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "tools/console/console_client.hpp"

namespace troupe::tools {

// The words that completion offers.
enum class console_word { none, actor, object };

struct console_command {
  std::string name;
  std::string usage;  // the text after the name
  std::string about;
  // Names of the parameters given without a flag, in order; those after `needed` are optional.
  std::vector<std::string> positions;
  std::size_t needed = 0;
  std::vector<std::string> flags;  // "--top N" is the parameter "top"
  console_word word = console_word::none;
  bool changes = false;
};

const std::vector<console_command>& console_commands();
// Whether the command shows actors of one machine, selected by --node. (For `send` it is a pod's.)
bool takes_node(const console_command& command);
const console_command* console_command_called(std::string_view name);
// The allowed values of a parameter that has only a few.
std::vector<std::string> console_choices(std::string_view parameter);

// Splits a line into words as a shell does: blanks separate them, quotes group them. `open_quote`:
// the quote that is not closed; 0 if all are.
std::vector<std::string> console_words(std::string_view line, char* open_quote = nullptr);

// True for quit and exit.
bool ends_console(std::string_view line);

struct console_line {
  const console_command* command = nullptr;  // null: an empty line
  console_request request;
};
// The error is one line for the user. A command that changes something needs `allow_control`.
tl::expected<console_line, std::string> parse_console_line(std::string_view line,
                                                           bool allow_control);

// Help for all commands, or for one. The error is one line for the user.
tl::expected<std::string, std::string> console_help(std::string_view name);

}  // namespace troupe::tools
