// Waiting for something to become true, as Kubernetes' clients do since #943: a condition is looked
// at on every tick of a poll, and once more when the ticks have ended.
//
// Nothing here reads a real clock: the caller hands one in, so that tests take no time.
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
  // Waits until then. False when the wait was interrupted: the user wants to leave.
  virtual bool wait_until(time_point then) = 0;
};

enum class failure_reason { timed_out, interrupted, condition_failed };

struct failure {
  failure_reason reason;
  std::string message;  // of the condition
};

// Whether it is so. An error ends the waiting.
using condition = std::function<tl::expected<bool, std::string>()>;

// What comes next: a tick, or the end of them.
enum class tick { next, ended, interrupted };
using ticks = std::function<tick()>;

// Looks at the condition on each tick and, as the last thing, when they have ended: what came true
// between the last tick and the end counts. `timed_out` when it was not true then.
tl::expected<void, failure> wait_for(const ticks& next, const condition& done);

struct poll_options {
  duration interval;
  duration timeout{0};     // 0: for ever
  bool immediate = false;  // the first tick comes at once, not after the first interval
};
// A tick every `interval` until `timeout` has passed. One that is late comes at once; those that
// were missed meanwhile do not.
ticks poller(clock& time, poll_options options);
tl::expected<void, failure> poll(clock& time, poll_options options, const condition& done);

// Between `base` and `base` × (1 + factor), so that many who wait do not all ask at once.
duration jitter(duration base, double factor, std::mt19937_64& random);

}  // namespace troupe::tools::wait
