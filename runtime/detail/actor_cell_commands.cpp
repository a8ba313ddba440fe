// Commands of a user to an actor through the console: pause, restart, crash, log level.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "runtime/defaults.hpp"
#include "runtime/detail/actor_cell.hpp"
#include "runtime/detail/log.hpp"
#include "runtime/detail/system_core.hpp"

namespace troupe::runtime {

// Requires mtx_; null once the cell has ended.
actor_cell::commands* actor_cell::open_commands() {
  if (commands_closed_) return nullptr;
  if (!commands_) commands_ = std::make_unique<commands>();
  return commands_.get();
}

bool actor_cell::command(fate wanted, std::string reason) {
  if (ending() || (wanted == fate::restart && !options_.restart)) return false;
  {
    std::lock_guard lock{mtx_};
    auto* pending = open_commands();
    if (pending == nullptr) return false;
    pending->wanted = wanted;
    pending->reason = std::move(reason);
  }
  commanded_.store(true);
  wake();
  return true;
}

bool actor_cell::pause(duration at_most) {
  if (ending()) return false;
  const auto limit = std::clamp(at_most, duration::zero(), defaults::longest_pause);
  std::lock_guard lock{mtx_};
  auto* pending = open_commands();
  if (pending == nullptr) return false;
  core_->timers.remove(pending->pause_ends);
  pending->pause_ends.target = this;
  pending->pause_ends.id = pause_id;
  paused_.store(true);
  core_->timers.add(pending->pause_ends, core_->time->now() + limit);
  return true;
}

bool actor_cell::unpause() {
  {
    std::lock_guard lock{mtx_};
    if (commands_closed_) return false;
    if (!commands_) return true;
    core_->timers.remove(commands_->pause_ends);
  }
  if (paused_.exchange(false)) wake();
  return true;
}

// The logger lives as long as the cell: the thread that runs it uses it without a lock.
bool actor_cell::log_level(spdlog::level::level_enum level) {
  std::lock_guard lock{mtx_};
  auto* pending = open_commands();
  if (pending == nullptr) return false;
  if (!pending->log)
    pending->log = spdlog::default_logger()->clone(options_.kind + "/" + options_.name);
  pending->log->set_level(level);
  log_.store(pending->log.get(), std::memory_order_release);
  return true;
}

// Called by the thread that runs the cell, between two messages.
void actor_cell::execute_command() {
  commanded_.store(false);
  std::optional<fate> wanted;
  std::string reason;
  {
    std::lock_guard lock{mtx_};
    wanted = std::exchange(commands_->wanted, std::nullopt);
    reason = std::move(commands_->reason);
  }
  if (!wanted) return;
  if (*wanted == fate::crash) {
    if (phase_ == phase::running) crashed(std::move(reason), "order");
    return;
  }
  log().warn("{} {} is restarted by a command: {}", options_.kind, options_.name, reason);
  if (phase_ == phase::running) destroy_state();
  {
    std::lock_guard lock{mtx_};
    auto& c = open_crashes();
    core_->timers.remove(c.restart);
    c.last_error = std::move(reason);
    ++c.restarts;
    record_restart(c, "order");
  }
  restart_due_.store(false);
  start();
}

// The timer node must not outlive the cell; no command is accepted afterwards.
void actor_cell::end_commands() {
  std::lock_guard lock{mtx_};
  commands_closed_ = true;
  if (commands_) core_->timers.remove(commands_->pause_ends);
}

}  // namespace troupe::runtime
