#include "tools/commands/commands.hpp"

namespace troupe::tools {

void add_commands(program& to, std::string_view first_argument) {
  add_node_command(to);
  if (first_argument == "node") return;
  add_token_command(to);
  add_user_command(to);
  add_join_command(to);
  add_leave_command(to);
  add_console_command(to);
  add_wait_command(to);
  add_rolling_update_command(to);
  add_store_command(to);
  add_etcd_command(to);
  add_image_command(to);
  add_config_command(to);
  add_version_command(to);
  add_help_command(to);
  add_completion_command(to);
}

}  // namespace troupe::tools
