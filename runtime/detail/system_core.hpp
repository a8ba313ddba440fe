// State shared by all cells of one system. It lives until the last cell is freed, so that a thread
// with an actor_ref may send at any time, even during shutdown.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/actor_system.hpp"
#include "runtime/detail/actor_registry.hpp"
#include "runtime/detail/children.hpp"
#include "runtime/detail/dispatcher.hpp"
#include "runtime/detail/envelope.hpp"
#include "runtime/detail/external_requests.hpp"
#include "runtime/detail/flight_recorder.hpp"
#include "runtime/detail/timer_service.hpp"

namespace caf {
class actor_system;
}

namespace troupe::runtime {

class actor_cell;

// Called with every message just before its actor handles it; may throw in the actor's place. Used
// by the simulation's trace and faults, and the place for any message tap.
class observer {
 public:
  virtual void before(const actor_cell& cell, const envelope& e) = 0;

 protected:
  ~observer() = default;
};

struct system_core : std::enable_shared_from_this<system_core> {
  system_core(system_options options, std::unique_ptr<clock> time, std::unique_ptr<dispatcher> jobs)
      : options{std::move(options)}, time{std::move(time)}, jobs{std::move(jobs)} {}

  // Creates an actor without messages, not yet scheduled.
  actor_ref make_cell(spawn_options options, std::function<std::unique_ptr<actor>()> make,
                      actor_ref parent);
  // Starts a top-level actor, or returns the live one of that name.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);
  void top_ended(const actor_ref& child);

  // Stops all top-level actors, and rejects later ones.
  void close();
  void ended() noexcept;
  // False: handlers were still running at the end of the grace period.
  bool await_ended(duration grace);
  // Logs the crash and notifies the owner of the system.
  void report(const crash& crash) const noexcept;

  const system_options options;
  const std::unique_ptr<clock> time;
  const std::unique_ptr<dispatcher> jobs;
  timer_service timers{*time};
  external_requests external{timers};
  actor_registry actors;
  flight_recorder recorder;
  observer* observing = nullptr;  // set before the first actor starts
  bool numbers_from_one = false;  // ids must repeat in a simulation

  caf::actor_system* caf = nullptr;
  runtime::actor_system* system = nullptr;
  actor_ref gateway;  // represents all senders outside of actors; receives replies for `external`

  std::atomic<std::size_t> live{0};
  std::atomic<std::uint64_t> last_id{0};  // in a simulation
  std::mutex mutex;
  std::condition_variable changed;  // notified when the last actor has ended
  children top;                     // guarded by mutex
  bool closing = false;             // guarded by mutex
};

}  // namespace troupe::runtime
