// The constants of access control and where they come from.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::access::defaults {

using namespace std::chrono_literals;

// An aggregated role that could not be written is looked at again.
inline constexpr auto aggregation_retry = 1s;
// Parts of one verb, group, resource and name (or path) each that a check looks at: some ten times
// what the largest roles in use have. A role of more is not checked at all, but refused.
inline constexpr std::size_t covered_parts = 20'000;

}  // namespace troupe::actors::access::defaults
