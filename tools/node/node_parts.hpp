// What a node is made of, seen from the process that holds it: something that starts, serves and
// stops. The rooms are put together behind this.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "config/fwd.hpp"

namespace troupe::tools {

class node_parts {
 public:
  // Frees whatever start() took, also when start() failed or stop() was never called.
  virtual ~node_parts() = default;

  // Returns when the API is served, with the address it is served at (the port that was taken when
  // any would do). An error is one line that names the thing and says what to do.
  virtual tl::expected<std::string, std::string> start() = 0;

  // Ends the pods of a machine that shuts down: takes as long as its settings say.
  virtual void shut_down() {}

  // Ends serving; called once, after a start() that succeeded. The process waits
  // defaults::stop_limit for it from the signal on, and as long as shut_down() may take.
  virtual void stop() = 0;
};

// Puts the parts together without starting them. The configuration outlives them.
using composer = std::function<std::unique_ptr<node_parts>(const config::node_config&)>;

}  // namespace troupe::tools
