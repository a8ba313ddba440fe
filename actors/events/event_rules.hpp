// Events: what they look like, when two are the same, how many an object may have. Pure.
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

// Events with the same key are one event that was seen several times.
std::string event_key(const record_event& record);
// All events of one component about one object: what the rate limit counts.
std::string event_source_key(const record_event& record);

// Seen once, at that time. Cluster-wide objects have their events in the namespace "default".
// `number` tells it from all others of the object: nanoseconds of the epoch, as upstream.
std::unique_ptr<api::core::v1::Event> make_event(const record_event& record, runtime::wall_time at,
                                                 std::int64_t number);

// When it was last seen, in seconds of the epoch; of its stored form.
std::int64_t last_seen(std::string_view stored);

// How many events are kept at most, and how much their stored forms may take together.
struct event_limits {
  std::size_t count = defaults::events_kept;
  std::size_t bytes = defaults::event_bytes_kept;
};
struct stored_event {
  persistence::revision written = 0;
  std::size_t bytes = 0;
};
// The events written at this revision or before go, so that the limits hold again with some room to
// spare; 0: none.
persistence::revision excess(std::vector<stored_event> events, const event_limits& limits);

// So many at once, then one after each interval.
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
