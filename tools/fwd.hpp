#pragma once

namespace troupe::tools {

class config_flags;
class node_folder;
class node_parts;
class program;
class stop_signals;

}  // namespace troupe::tools
