// A whole system in one thread, with virtual time and a seed: the same seed gives the same run.
//
// At each step one actor that has mail, picked by the seed, handles one message (or starts). Time
// moves only when nobody has mail, or when the test moves it. Faults come from the same seed.
//
// The thread that steps is the one that may spawn, send and request. Nothing else repeats a run if
// it depends on addresses, on real time or on other threads: a worker_pool has no place in one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor_system.hpp"
#include "runtime/clock.hpp"

namespace troupe::runtime {

struct fault_plan {
  // Chance at each message that the actor throws in the place of handling it. The message is lost,
  // as in a real crash, and the actor is restarted.
  double crash = 0;
  // Chance at each step that the actor that was picked is passed over, and its mail waits.
  double delay = 0;
  // Which actors may crash; all when empty.
  std::function<bool(const std::string& kind, const std::string& name)> may_crash;
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed);
  ~simulation();

  runtime::actor_system& system() noexcept;
  std::uint64_t seed() const noexcept;
  void faults(fault_plan plan);
  // A digest of all that was handled so far, in order: actor, message type and time. Two runs
  // that have the same one did the same.
  std::uint64_t trace() const noexcept;

  // One message of one actor; false when nobody has mail and no timer is due.
  bool step();
  // Steps until nobody has mail, or `limit` steps were made (the return value says how many).
  std::size_t settle(std::size_t limit = 1'000'000);
  // Moves time by `by`, firing timers in order and settling after each.
  void advance(duration by);
  // Settles and moves time from timer to timer until `done()` holds or `limit` virtual time has
  // passed; false in the latter case.
  bool run_until(const std::function<bool()>& done, duration limit);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime
