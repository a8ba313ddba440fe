// The console's commands: what a person may type, and which request that is. Pure.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "tools/console/console_client.hpp"

namespace troupe::tools {

// What completion offers for a word.
enum class console_word { none, actor, object };

struct console_command {
  std::string name;
  std::string usage;  // what follows the name
  std::string about;
  // Parameters that words without a flag are, in order; those behind `needed` may be left out.
  std::vector<std::string> positions;
  std::size_t needed = 0;
  std::vector<std::string> flags;  // "--top N" is the parameter "top"
  console_word word = console_word::none;
  bool changes = false;
};

const std::vector<console_command>& console_commands();
// Of the actors of one machine, which --node names. (Of `send` the node is a pod's.)
bool takes_node(const console_command& command);
const console_command* console_command_called(std::string_view name);
// The values that a parameter can have where there are only a few.
std::vector<std::string> console_choices(std::string_view parameter);

// Words as a shell makes them: blanks part them, quotes keep them together. `open_quote`: the one
// that is not closed, 0 where all are.
std::vector<std::string> console_words(std::string_view line, char* open_quote = nullptr);

// quit and exit.
bool ends_console(std::string_view line);

struct console_line {
  const console_command* command = nullptr;  // null: an empty line
  console_request request;
};
// The error is one line for the user. What changes something needs `allow_control`.
tl::expected<console_line, std::string> parse_console_line(std::string_view line,
                                                           bool allow_control);

// All commands, or one. The error is one line for the user.
tl::expected<std::string, std::string> console_help(std::string_view name);

}  // namespace troupe::tools
