#include "tools/wait.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace troupe::tools::wait {

tl::expected<void, failure> wait_for(const ticks& next, const condition& done) {
  for (;;) {
    const auto got = next();
    if (got == tick::interrupted)
      return tl::make_unexpected(failure{failure::reason::interrupted, {}});
    const auto so = done();
    if (!so) return tl::make_unexpected(failure{failure::reason::condition_failed, so.error()});
    if (*so) return {};
    if (got == tick::ended) return tl::make_unexpected(failure{failure::reason::timed_out, {}});
  }
}

ticks poller(clock& by, poll_options options) {
  const auto began = by.now();
  struct schedule {
    time_point next;
    std::optional<time_point> end;
  };
  const auto at = std::make_shared<schedule>();
  at->next = options.immediate ? began : began + options.interval;
  if (options.timeout > duration{0}) at->end = began + options.timeout;
  return [&by, at, interval = options.interval] {
    const auto due = std::max(at->next, by.now());
    const bool last = at->end && due >= *at->end;
    const auto then = last ? *at->end : due;
    if (then > by.now() && !by.wait_until(then)) return tick::interrupted;
    at->next = due + interval;
    return last ? tick::ended : tick::next;
  };
}

tl::expected<void, failure> poll(clock& by, poll_options options, const condition& done) {
  return wait_for(poller(by, options), done);
}

duration jitter(duration base, double factor, std::mt19937_64& random) {
  std::uniform_real_distribution<double> part{0, factor};
  return base + std::chrono::duration_cast<duration>(base * part(random));
}

}  // namespace troupe::tools::wait
