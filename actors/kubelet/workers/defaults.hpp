// Constants of the pod workers' behaviour, each with its source.
#pragma once

#include <chrono>

namespace troupe::actors::worker_defaults {

using namespace std::chrono_literals;

// The events of a failure that lasts are repeated after this: the store deletes events after an
// hour. kubernetes: client-go's recorder, defaultSpamQPS.
inline constexpr auto event_repetition = 5min;

}  // namespace troupe::actors::worker_defaults
