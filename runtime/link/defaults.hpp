// The constants that stand for behaviour of a link, each with its source.
#pragma once

#include <chrono>
#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::runtime::link::defaults {

using namespace std::chrono_literals;

// The largest object that the API takes is 3 MiB (kubernetes: apiserver, MaxRequestBodyBytes); what
// goes round it in a frame has room in the fourth.
inline constexpr std::size_t frame_limit_bytes = 4u << 20;
// Waiting to be sent to one peer; a frame is refused once as much waits. Two of the largest frames,
// or the changes that a node of 110 pods sees in minutes.
inline constexpr std::size_t outbox_limit_bytes = 8u << 20;
// Received from one peer and not let go of; when as much is held, no more is read.
inline constexpr std::size_t window_limit_bytes = 4u << 20;
// What a frame costs besides its bytes, in outbox and window: many empty ones are bounded too.
inline constexpr std::size_t frame_overhead_bytes = 64;

// How long the end of a session waits until what is queued has gone out.
inline constexpr duration linger = 1s;

}  // namespace troupe::runtime::link::defaults
