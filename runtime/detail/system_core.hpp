// Shared by all cells of one system. It lives until the last cell's memory is given back, so that
// a thread that still holds an actor_ref may send at any time, also while the system ends.
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
#include "runtime/detail/flight_recorder.hpp"
#include "runtime/detail/outside_requests.hpp"
#include "runtime/detail/timer_service.hpp"

namespace caf {
class actor_system;
}

namespace troupe::runtime {

class actor_cell;

// Sees every message just before its actor handles it; may throw in the actor's place. The
// simulation's trace and faults use it, and it is where a tap belongs.
class observer {
 public:
  virtual void before(const actor_cell& cell, const envelope& e) = 0;

 protected:
  ~observer() = default;
};

struct system_core : std::enable_shared_from_this<system_core> {
  system_core(system_options options, std::unique_ptr<clock> time, std::unique_ptr<dispatcher> jobs)
      : options{std::move(options)}, time{std::move(time)}, jobs{std::move(jobs)} {}

  // A new actor without mail, not yet scheduled.
  actor_ref make_cell(spawn_options options, std::function<std::unique_ptr<actor>()> make,
                      actor_ref parent);
  // For an actor at the top; the live one of that name when there is one.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);
  void top_ended(const actor_ref& child);

  // Tells everybody at the top to end, and all that come later not to begin.
  void close();
  void ended() noexcept;
  // False: handlers still ran when the grace was over.
  bool await_ended(duration grace);
  // Tells the log and the owner of the system.
  void report(const crash& crash) const noexcept;

  const system_options options;
  const std::unique_ptr<clock> time;
  const std::unique_ptr<dispatcher> jobs;
  timer_service timers{*time};
  outside_requests outside{timers};
  actor_registry actors;
  flight_recorder recorder;
  observer* observing = nullptr;  // set before the first actor starts
  bool numbers_from_one = false;  // ids of a simulation must repeat

  caf::actor_system* caf = nullptr;
  runtime::actor_system* system = nullptr;
  actor_ref gateway;  // stands for all senders outside; takes answers for `outside`

  std::atomic<std::size_t> live{0};
  std::atomic<std::uint64_t> last_id{0};  // of a simulation
  std::mutex mutex;
  std::condition_variable changed;  // when the last actor has ended
  children top;                     // guarded by mutex
  bool closing = false;             // guarded by mutex
};

}  // namespace troupe::runtime
