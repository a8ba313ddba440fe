#include "tools/client/wait.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace troupe::tools::wait {

tl::expected<void, failure> wait_for(const ticks& next, const condition& done) {
  for (;;) {
    const auto now = next();
    if (now == tick::interrupted)
      return tl::make_unexpected(failure{failure_reason::interrupted, {}});
    const auto met = done();
    if (!met) return tl::make_unexpected(failure{failure_reason::condition_failed, met.error()});
    if (*met) return {};
    if (now == tick::ended) return tl::make_unexpected(failure{failure_reason::timed_out, {}});
  }
}

ticks poller(clock& time, poll_options options) {
  const auto began = time.now();
  struct schedule {
    time_point next;
    std::optional<time_point> end;
  };
  const auto at = std::make_shared<schedule>();
  at->next = options.immediate ? began : began + options.interval;
  if (options.timeout > duration{0}) at->end = began + options.timeout;
  return [&time, at, interval = options.interval] {
    const auto due = std::max(at->next, time.now());
    const bool last = at->end && due >= *at->end;
    const auto then = last ? *at->end : due;
    if (then > time.now() && !time.wait_until(then)) return tick::interrupted;
    at->next = due + interval;
    return last ? tick::ended : tick::next;
  };
}

tl::expected<void, failure> poll(clock& time, poll_options options, const condition& done) {
  return wait_for(poller(time, options), done);
}

duration jitter(duration base, double factor, std::mt19937_64& random) {
  std::uniform_real_distribution<double> part{0, factor};
  return base + std::chrono::duration_cast<duration>(base * part(random));
}

}  // namespace troupe::tools::wait
