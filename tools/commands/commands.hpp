// The subcommands. Each adds itself to the program in a file of its own.
#pragma once

#include <string_view>

#include "tools/fwd.hpp"

namespace CLI {
class App;
}

namespace troupe::tools {

void add_node_command(program& to);
void add_token_command(program& to);
void add_user_command(program& to);
void add_join_command(program& to);
void add_leave_command(program& to);
void add_store_command(program& to);
void add_etcd_command(program& to);
void add_image_command(program& to);
void add_config_command(program& to);
void add_console_command(program& to);
void add_wait_command(program& to);
void add_rolling_update_command(program& to);
void add_version_command(program& to);
void add_help_command(program& to);
void add_completion_command(program& to);

// The subcommands of `troupe store` that copy a state from one store to another.
void add_copy_commands(program& to, CLI::App& store);

// All subcommands, in the order in which help lists them. If the first argument is `node`, adds
// only that one: the flags of the others take two milliseconds of a start.
void add_commands(program& to, std::string_view first_argument);

}  // namespace troupe::tools
