// What a person asks of an actor through the console: a pause, a new life, a crash, a log.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "runtime/defaults.hpp"
#include "runtime/detail/core.hpp"
#include "runtime/detail/host.hpp"
#include "runtime/detail/log.hpp"

namespace troupe::runtime {

// Needs mtx_; null once it has ended.
host::orders* host::open_orders() {
  if (orders_closed_) return nullptr;
  if (!orders_) orders_ = std::make_unique<orders>();
  return orders_.get();
}

bool host::order(fate what, std::string reason) {
  if (ending() || (what == fate::restart && !options_.restart)) return false;
  {
    std::lock_guard lock{mtx_};
    auto* mine = open_orders();
    if (mine == nullptr) return false;
    mine->wanted = what;
    mine->reason = std::move(reason);
  }
  ordered_.store(true);
  wake();
  return true;
}

bool host::pause(duration at_most) {
  if (ending()) return false;
  const auto limit = std::clamp(at_most, duration::zero(), defaults::longest_pause);
  std::lock_guard lock{mtx_};
  auto* mine = open_orders();
  if (mine == nullptr) return false;
  core_->timers.remove(mine->pause_ends);
  mine->pause_ends.target = this;
  mine->pause_ends.id = pause_id;
  paused_.store(true);
  core_->timers.add(mine->pause_ends, core_->time->now() + limit);
  return true;
}

bool host::unpause() {
  {
    std::lock_guard lock{mtx_};
    if (orders_closed_) return false;
    if (!orders_) return true;
    core_->timers.remove(orders_->pause_ends);
  }
  if (paused_.exchange(false)) wake();
  return true;
}

// The logger stays as long as the host: the thread that runs it uses it without a lock.
bool host::log_level(spdlog::level::level_enum level) {
  std::lock_guard lock{mtx_};
  auto* mine = open_orders();
  if (mine == nullptr) return false;
  if (!mine->log) mine->log = spdlog::default_logger()->clone(options_.kind + "/" + options_.name);
  mine->log->set_level(level);
  log_.store(mine->log.get(), std::memory_order_release);
  return true;
}

// By the thread that runs the host, between two messages.
void host::carry_out_order() {
  ordered_.store(false);
  std::optional<fate> wanted;
  std::string reason;
  {
    std::lock_guard lock{mtx_};
    wanted = std::exchange(orders_->wanted, std::nullopt);
    reason = std::move(orders_->reason);
  }
  if (!wanted) return;
  if (*wanted == fate::crash) {
    if (phase_ == phase::running) crashed(std::move(reason), "order");
    return;
  }
  log().warn("{} {} is restarted by hand: {}", options_.kind, options_.name, reason);
  if (phase_ == phase::running) destroy_state();
  {
    std::lock_guard lock{mtx_};
    auto& c = open_crashes();
    core_->timers.remove(c.restart);
    c.last_error = std::move(reason);
    ++c.restarts;
    keep_reason(c, "order");
  }
  restart_due_.store(false);
  start();
}

// The timer's node must not outlive the host; no order comes in after this.
void host::end_orders() {
  std::lock_guard lock{mtx_};
  orders_closed_ = true;
  if (orders_) core_->timers.remove(orders_->pause_ends);
}

}  // namespace troupe::runtime
