#pragma once

namespace troupe::tools {

class config_flags;
class data_dir;
class node_parts;
class program;
class stop_signals;

}  // namespace troupe::tools
