// How one running container is brought to its end: its preStop hook, then SIGTERM, then SIGKILL
// when the grace period is over (kubernetes: kuberuntime_container.go). Pure: told the time, it
// says what to do next.
#pragma once

#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::actors {

enum class stop_step : std::uint8_t { wait, run_hook, terminate, kill };

class container_stop {
 public:
  // The container is to end within `grace`; 0: at once. Again while it is ending: a shorter grace
  // counts, a longer one does not.
  stop_step begin(runtime::time_point now, runtime::duration grace, bool has_hook);
  // Once it is its turn, or the grace period is over, is it told to end; before `begin`.
  void hold() noexcept { held_ = true; }
  bool held() const noexcept { return held_; }
  stop_step release(runtime::time_point now);
  // The hook has ended, well or not.
  stop_step hook_done(runtime::time_point now);
  // Time has passed; SIGKILL is repeated until the container is gone.
  stop_step look(runtime::time_point now);

  bool begun() const noexcept { return stage_ != stage::none; }
  // When to look again.
  runtime::time_point deadline() const noexcept { return deadline_; }

 private:
  enum class stage : std::uint8_t { none, hook, waiting, terminated, killed };
  stop_step terminate(runtime::time_point now);
  stop_step kill(runtime::time_point now);

  stage stage_ = stage::none;
  bool held_ = false;
  runtime::time_point deadline_{};
};

}  // namespace troupe::actors
