#include "runtime/system.hpp"

#include <algorithm>
#include <caf/actor_config.hpp>
#include <caf/make_actor.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/defaults.hpp"
#include "runtime/detail/host.hpp"
#include "runtime/detail/log.hpp"
#include "runtime/detail/run_queue.hpp"
#include "runtime/detail/system_impl.hpp"

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

void name_the_stuck(const core& shared) {
  shared.actors.each([](const actor_info& row) {
    if (row.current.empty()) return;
    log().critical("{} {} still handles {} after {} ms; it is left behind", row.kind, row.name,
                   row.current,
                   std::chrono::duration_cast<std::chrono::milliseconds>(row.current_for).count());
  });
}

// Threads that nobody can stop still use it: it stays for the rest of the process, and reachable,
// so that it is not taken for a leak.
void leave_behind(void* inside) {
  static std::mutex mutex;
  static auto& all = *new std::vector<void*>;
  std::lock_guard lock{mutex};
  all.push_back(inside);
}

}  // namespace

system::impl::impl(std::shared_ptr<core> all, std::size_t threads)
    : shared{std::move(all)},
      config{*shared->jobs, shared->caf_time, threads},
      caf{std::make_unique<caf::actor_system>(config)} {
  caf->await_actors_before_shutdown(false);
  shared->caf = caf.get();
  caf::actor_config none;
  auto made = caf::make_actor<host, caf::strong_actor_ptr>(
      host::gateway_id, caf->node(), caf.get(), none, shared, spawn_options{"outside", ""},
      host::factory{}, actor_ref{});
  shared->gateway = access::share(static_cast<host&>(*made->get()));
}

system::system(system_options options)
    : impl_{std::make_unique<impl>(std::make_shared<core>(options, std::make_unique<real_clock>(),
                                                          std::make_unique<run_queue>()),
                                   threads_for(options))} {
  impl_->shared->home = this;
  impl_->shared->timers.start();
}

system::system(simulated, std::unique_ptr<impl> inside) : impl_{std::move(inside)} {
  impl_->shared->home = this;
}

system::~system() {
  auto& shared = *impl_->shared;
  shared.close();
  if (impl_->config.threads == 0) shared.jobs->stop();
  if (!shared.await_ended(shared.options.shutdown_grace)) {
    name_the_stuck(shared);
    leave_behind(impl_.release());
    return;
  }
  shared.outside.close();
  shared.gateway = {};
  impl_->caf.reset();
}

actor_ref system::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  return impl_->shared->spawn(std::move(options), std::move(make));
}

void system::stop(const actor_ref& which) {
  if (which) access::host_of(which)->request_stop();
}

bool system::pause(const actor_ref& which, duration at_most) {
  return which && access::host_of(which)->pause(at_most);
}

bool system::resume(const actor_ref& which) {
  return which && access::host_of(which)->unpause();
}

bool system::restart(const actor_ref& which, std::string reason) {
  return which && access::host_of(which)->order(host::fate::restart, std::move(reason));
}

bool system::kill(const actor_ref& which, std::string reason) {
  return which && access::host_of(which)->order(host::fate::crash, std::move(reason));
}

bool system::log_level(const actor_ref& which, spdlog::level::level_enum level) {
  return which && access::host_of(which)->log_level(level);
}

void system::request_message(const actor_ref& to, message content, duration timeout, cause why,
                             reply_handler done) {
  auto& shared = *impl_->shared;
  const auto now = shared.time->now();
  const auto wait = std::clamp(timeout, duration::zero(), defaults::longest_delay);
  const auto id = shared.outside.add(now + wait, std::move(done));
  if (id == 0) return;
  auto* receiver = access::host_of(to);
  const auto result = receiver == nullptr
                          ? host::posted::down
                          : receiver->post(std::move(content), shared.gateway, why, id);
  if (result == host::posted::taken) return;
  shared.outside.fail_soon(
      id, result == host::posted::full ? request_error::mailbox_full : request_error::down, now);
}

const clock& system::time() const noexcept {
  return *impl_->shared->time;
}

const directory& system::actors() const noexcept {
  return impl_->shared->actors;
}

const recorder& system::recorder() const noexcept {
  return impl_->shared->recorder;
}

}  // namespace troupe::runtime
