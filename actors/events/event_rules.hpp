// Rules of events: content, aggregation, rate limits. Pure functions.
//
// kubernetes: client-go/tools/record/events_cache.go and event.go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"
#include "api/schema/core_event.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Records with the same key are aggregated to one Event with a count.
std::string event_key(const record_event& record);
// Identifies the events of one component about one object, for the rate limit.
std::string event_source_key(const record_event& record);

// Creates an Event that occurred once, at `at`. Events of cluster-scoped objects are in the
// namespace "default". `number` makes its name unique: nanoseconds since the epoch, as upstream.
std::unique_ptr<api::core::v1::Event> make_event(const record_event& record, runtime::wall_time at,
                                                 std::int64_t number);

// The last occurrence of a stored Event, in seconds since the epoch.
std::int64_t last_seen(std::string_view stored);

// The maximum number of stored events and of their total stored size.
struct event_limits {
  std::size_t count = defaults::events_kept;
  std::size_t bytes = defaults::event_bytes_kept;
};
struct stored_event {
  persistence::revision written = 0;
  std::size_t bytes = 0;
};
// Events written at or before the returned revision must be deleted to meet the limits with some
// reserve; 0: none.
persistence::revision excess(std::vector<stored_event> events, const event_limits& limits);

// Allows `burst` at once, then one after each interval.
class token_bucket {
 public:
  token_bucket(double burst, runtime::duration interval, runtime::time_point now)
      : tokens_{burst}, burst_{burst}, interval_{interval}, at_{now} {}

  bool take(runtime::time_point now);

 private:
  double tokens_;
  double burst_;
  runtime::duration interval_;
  runtime::time_point at_;
};

}  // namespace troupe::actors
