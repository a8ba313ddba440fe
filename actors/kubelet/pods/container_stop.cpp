#include "actors/kubelet/pods/container_stop.hpp"

#include <algorithm>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

stop_step container_stop::begin(runtime::time_point now, runtime::duration grace, bool has_hook) {
  if (grace.count() <= 0) return stage_ == stage::killed ? check(now) : kill(now);
  if (begun()) {
    if (stage_ != stage::killed) deadline_ = std::min(deadline_, now + grace);
    return check(now);
  }
  deadline_ = now + grace;
  if (!has_hook) return terminate(now);
  stage_ = stage::hook;
  return stop_step::run_hook;
}

stop_step container_stop::release(runtime::time_point now) {
  held_ = false;
  return stage_ == stage::waiting ? terminate(now) : stop_step::wait;
}

stop_step container_stop::hook_done(runtime::time_point now) {
  return stage_ == stage::hook ? terminate(now) : stop_step::wait;
}

void container_stop::failed(runtime::time_point now) {
  if (stage_ == stage::terminated) again_at_ = now + kubelet_defaults::kill_again;
}

stop_step container_stop::check(runtime::time_point now) {
  if (!begun() || now < next_check()) return stop_step::wait;
  again_at_.reset();
  if (now < deadline_) return terminate(now);
  return stage_ == stage::hook || stage_ == stage::waiting ? terminate(now) : kill(now);
}

stop_step container_stop::terminate(runtime::time_point now) {
  if (held_ && now < deadline_) {
    stage_ = stage::waiting;
    return stop_step::wait;
  }
  // If the hook took all of the time, the container still gets a little to end by itself.
  if (stage_ == stage::hook || stage_ == stage::waiting)
    deadline_ = std::max<runtime::time_point>(deadline_, now + kubelet_defaults::grace_after_hook);
  stage_ = stage::terminated;
  return stop_step::terminate;
}

stop_step container_stop::kill(runtime::time_point now) {
  stage_ = stage::killed;
  again_at_.reset();
  deadline_ = now + kubelet_defaults::kill_again;
  return stop_step::kill;
}

}  // namespace troupe::actors
