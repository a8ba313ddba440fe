// A simulated system in one thread, with virtual time and a seed: equal seeds give equal runs.
//
// At each step one actor with messages, chosen by the seed, handles one message (or starts). Time
// moves only when no actor has messages, or when the test advances it. The seed also drives faults.
//
// Only the stepping thread may spawn, send and request. A run is not reproducible if it depends on
// addresses, real time or other threads, e.g. on a worker_pool.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor_system.hpp"
#include "runtime/clock.hpp"

namespace troupe::runtime {

struct fault_plan {
  // Probability for each message that the actor throws instead of handling it. The message is lost,
  // as in a real crash, and the actor restarts.
  double crash = 0;
  // Probability at each step that the chosen actor is skipped and its messages wait.
  double delay = 0;
  // Selects the actors that may crash; empty: all.
  std::function<bool(const std::string& kind, const std::string& name)> may_crash;
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed);
  ~simulation();

  runtime::actor_system& system() noexcept;
  std::uint64_t seed() const noexcept;
  void faults(fault_plan plan);
  // A digest of everything handled so far, in order: actor, message type and time. Runs with equal
  // digests did the same.
  std::uint64_t trace() const noexcept;

  // Handles one message of one actor; false if no actor has messages and no timer is due.
  bool step();
  // Steps until no actor has messages, or for `limit` steps; returns the number of steps.
  std::size_t settle(std::size_t limit = 1'000'000);
  // Advances time by `by`, firing timers in order and settling after each.
  void advance(duration by);
  // Settles and advances time from timer to timer until `done()` is true or `limit` virtual time
  // has passed; false in the latter case.
  bool run_until(const std::function<bool()>& done, duration limit);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime
