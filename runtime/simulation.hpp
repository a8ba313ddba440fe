// A whole system in one thread, with virtual time and a seed: the same seed gives the same run.
//
// At each step one actor that has mail, picked by the seed, handles one message. Time moves only
// when nobody has mail, or when the test moves it. Faults come from the same seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/system.hpp"

namespace troupe::runtime {

struct fault_plan {
  // Chance at each step that the actor throws before it handles its message (and is restarted).
  double crash = 0;
  // Chance at each step that a due message waits: its actor is passed over for this step.
  double delay = 0;
  // Which actors may crash; all when empty.
  std::function<bool(const std::string& kind, const std::string& name)> may_crash;
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed);
  ~simulation();

  runtime::system& system() noexcept;
  std::uint64_t seed() const noexcept;
  void faults(fault_plan plan);

  // One message of one actor; false when nobody has mail.
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
