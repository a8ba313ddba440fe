// The stop sequence of one running container: its preStop hook, then SIGTERM, then SIGKILL when the
// grace period is over (kubernetes: kuberuntime_container.go). Pure: it gets the time and returns
// the next step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "runtime/clock.hpp"

namespace troupe::actors {

enum class stop_step : std::uint8_t { wait, run_hook, terminate, kill };

class container_stop {
 public:
  // Stop the container within `grace`; 0: at once. If it is stopping already, a shorter grace
  // replaces the former one, a longer one is ignored.
  stop_step begin(runtime::time_point now, runtime::duration grace, bool has_hook);
  // Delays the stop until `release` or the end of the grace period; call it before `begin`.
  void hold() noexcept { held_ = true; }
  bool held() const noexcept { return held_; }
  stop_step release(runtime::time_point now);
  // The hook has ended, successfully or not.
  stop_step hook_done(runtime::time_point now);
  // The runtime has not sent SIGTERM: it is sent again a little later, while there is time.
  void failed(runtime::time_point now);
  // To be called when `next_check` has passed; repeats SIGKILL until the container is gone.
  stop_step check(runtime::time_point now);

  bool begun() const noexcept { return stage_ != stage::none; }
  // The end of the grace period, or of the pause before the next SIGKILL.
  runtime::time_point deadline() const noexcept { return deadline_; }
  runtime::time_point next_check() const noexcept {
    return again_at_ ? std::min(*again_at_, deadline_) : deadline_;
  }

 private:
  enum class stage : std::uint8_t { none, hook, waiting, terminated, killed };
  stop_step terminate(runtime::time_point now);
  stop_step kill(runtime::time_point now);

  stage stage_ = stage::none;
  bool held_ = false;
  runtime::time_point deadline_{};
  std::optional<runtime::time_point> again_at_;  // SIGTERM
};

}  // namespace troupe::actors
