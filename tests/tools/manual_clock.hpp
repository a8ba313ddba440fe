// A clock that only the test advances: waiting takes no time.
#pragma once

#include <optional>

#include "tools/client/wait.hpp"

namespace troupe::tools::wait {

class manual_clock final : public clock {
 public:
  time_point now() override { return now_; }
  bool wait_until(time_point then) override {
    if (interrupt_at_ && then >= *interrupt_at_) return false;
    now_ = then;
    return true;
  }

  void advance(duration by) { now_ += by; }
  void interrupt_after(duration from_start) { interrupt_at_ = time_point{} + from_start; }
  duration passed() const { return std::chrono::duration_cast<duration>(now_ - time_point{}); }

 private:
  time_point now_{};
  std::optional<time_point> interrupt_at_;
};

}  // namespace troupe::tools::wait
