// The real clock for commands that wait: a signal that asks the process to end wakes it. Construct
// it before any other thread starts (stop_signals).
#pragma once

#include "tools/client/wait.hpp"
#include "tools/defaults.hpp"
#include "tools/node/stop_signals.hpp"

namespace troupe::tools {

class interruptible_clock final : public wait::clock {
 public:
  wait::time_point now() override { return std::chrono::steady_clock::now(); }
  bool wait_until(wait::time_point then) override { return !signals_.wait_until(then); }

 private:
  stop_signals signals_{defaults::stop_limit};
};

}  // namespace troupe::tools
