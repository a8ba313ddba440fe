#include "runtime/actor_system.hpp"

#include <algorithm>
#include <caf/actor_config.hpp>
#include <caf/make_actor.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/core/actor_system_impl.hpp"
#include "runtime/defaults.hpp"
#include "runtime/detail/actor_cell.hpp"
#include "runtime/detail/log.hpp"
#include "runtime/detail/run_queue.hpp"

namespace troupe::runtime {

namespace {

class real_clock final : public clock {
 public:
  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
  wall_time wall_now() const noexcept override { return std::chrono::system_clock::now(); }
};

std::size_t threads_for(const system_options& options) {
  if (options.threads != 0) return options.threads;
  return std::max(std::thread::hardware_concurrency(), 2U);
}

void log_stuck_actors(const system_core& shared) {
  shared.actors.each([](const actor_info& row) {
    if (row.current.empty()) return;
    log().critical("{} {} still handles {} after {} ms: its thread is leaked", row.kind, row.name,
                   row.current,
                   std::chrono::duration_cast<std::chrono::milliseconds>(row.current_for).count());
  });
}

// Threads that cannot be stopped still use it: it is kept for the rest of the process, and
// reachable, so that it is not reported as a leak.
void leak(void* state) {
  static std::mutex mutex;
  static auto& all = *new std::vector<void*>;
  std::lock_guard lock{mutex};
  all.push_back(state);
}

}  // namespace

actor_system::impl::impl(std::shared_ptr<system_core> all, std::size_t threads)
    : shared{std::move(all)},
      config{*shared->jobs, threads},
      caf{std::make_unique<caf::actor_system>(config)} {
  caf->await_actors_before_shutdown(false);
  shared->caf = caf.get();
  caf::actor_config none;
  auto made = caf::make_actor<actor_cell, caf::strong_actor_ptr>(
      actor_cell::gateway_id, caf->node(), caf.get(), none, shared, spawn_options{"outside", ""},
      actor_cell::factory{}, actor_ref{});
  shared->gateway = access::share(static_cast<actor_cell&>(*made->get()));
}

actor_system::actor_system(system_options options)
    : impl_{std::make_unique<impl>(
          std::make_shared<system_core>(options, std::make_unique<real_clock>(),
                                        std::make_unique<run_queue>()),
          threads_for(options))} {
  impl_->shared->system = this;
  impl_->shared->timers.start();
}

actor_system::actor_system(simulated, std::unique_ptr<impl> state) : impl_{std::move(state)} {
  impl_->shared->system = this;
}

actor_system::~actor_system() {
  auto& shared = *impl_->shared;
  shared.close();
  if (impl_->config.threads == 0) shared.jobs->stop();
  if (!shared.await_ended(shared.options.shutdown_grace)) {
    log_stuck_actors(shared);
    leak(impl_.release());
    return;
  }
  shared.timers.stop();
  shared.external.close();
  shared.gateway = {};
  impl_->caf.reset();
}

actor_ref actor_system::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  return impl_->shared->spawn(std::move(options), std::move(make));
}

void actor_system::stop(const actor_ref& target) {
  if (target) access::cell_of(target)->request_stop();
}

bool actor_system::pause(const actor_ref& target, duration at_most) {
  return target && access::cell_of(target)->pause(at_most);
}

bool actor_system::resume(const actor_ref& target) {
  return target && access::cell_of(target)->unpause();
}

bool actor_system::restart(const actor_ref& target, std::string reason) {
  return target && access::cell_of(target)->command(actor_cell::fate::restart, std::move(reason));
}

bool actor_system::kill(const actor_ref& target, std::string reason) {
  return target && access::cell_of(target)->command(actor_cell::fate::crash, std::move(reason));
}

bool actor_system::log_level(const actor_ref& target, spdlog::level::level_enum level) {
  return target && access::cell_of(target)->log_level(level);
}

void actor_system::request_message(const actor_ref& to, message content, duration timeout,
                                   cause cause, reply_handler done) {
  auto& shared = *impl_->shared;
  const auto now = shared.time->now();
  const auto wait = std::clamp(timeout, duration::zero(), defaults::longest_delay);
  const auto id = shared.external.add(now + wait, std::move(done));
  if (id == 0) return;
  auto* receiver = access::cell_of(to);
  const auto result = receiver == nullptr
                          ? actor_cell::post_result::down
                          : receiver->post(std::move(content), shared.gateway, cause, id);
  if (result == actor_cell::post_result::taken) return;
  shared.external.schedule_failure(
      id,
      result == actor_cell::post_result::full ? request_error::mailbox_full : request_error::down,
      now);
}

const clock& actor_system::time() const noexcept {
  return *impl_->shared->time;
}

const directory& actor_system::actors() const noexcept {
  return impl_->shared->actors;
}

const recorder& actor_system::recorder() const noexcept {
  return impl_->shared->recorder;
}

}  // namespace troupe::runtime
