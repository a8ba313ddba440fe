// Polling, as Kubernetes' clients do since #943: a condition is checked on every tick, and once
// more after the last tick.
//
// Nothing here reads a real clock: the caller passes one, so that tests take no time.
#pragma once

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools::wait {

using duration = std::chrono::milliseconds;
using time_point = std::chrono::steady_clock::time_point;

class clock {
 public:
  virtual ~clock() = default;
  virtual time_point now() = 0;
  // Waits until `then`. False if the wait was interrupted by the user.
  virtual bool wait_until(time_point then) = 0;
};

enum class failure_reason { timed_out, interrupted, condition_failed };

struct failure {
  failure_reason reason;
  std::string message;  // of the condition
};

// Whether the condition is true. An error ends the wait.
using condition = std::function<tl::expected<bool, std::string>()>;

// The next event: a tick, the end of the ticks, or an interruption.
enum class tick { next, ended, interrupted };
using ticks = std::function<tick()>;

// Checks the condition on each tick and once more after the last: a change between the last tick
// and the end counts. `timed_out` if it was not true then.
tl::expected<void, failure> wait_for(const ticks& next, const condition& done);

struct poll_options {
  duration interval;
  duration timeout{0};     // 0: no limit
  bool immediate = false;  // the first tick comes at once, not after the first interval
};
// A tick every `interval` until `timeout` has passed. A late tick comes at once; missed ticks are
// dropped.
ticks poller(clock& time, poll_options options);
tl::expected<void, failure> poll(clock& time, poll_options options, const condition& done);

// Between `base` and `base` × (1 + factor), so that many clients do not ask at the same time.
duration jitter(duration base, double factor, std::mt19937_64& random);

}  // namespace troupe::tools::wait
