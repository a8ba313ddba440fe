// The parts of a node as the process sees them: they start, serve and stop. compose() connects the
// rooms behind this interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "config/fwd.hpp"

namespace troupe::tools {

class node_parts {
 public:
  // Frees everything that start() acquired, also if start() failed or stop() was never called.
  virtual ~node_parts() = default;

  // Returns when the API is served, with its address (the actual port if any port was allowed).
  // An error is one line that names the problem and the remedy.
  virtual tl::expected<std::string, std::string> start() = 0;

  // Ends the pods when the machine shuts down: takes as long as its settings say.
  virtual void shut_down() {}

  // Stops serving; called once, after a successful start(). From the signal on, the process waits
  // defaults::stop_limit for it, plus the time that shut_down() may take.
  virtual void stop() = 0;
};

// Connects the parts without starting them. The configuration must outlive them.
using composer = std::function<std::unique_ptr<node_parts>(const config::node_config&)>;

}  // namespace troupe::tools
