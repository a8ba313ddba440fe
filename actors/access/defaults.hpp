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
// Bindings of a subject in one namespace or the cluster that are walked over for each request: some
// 50 ns each. A subject with more is judged by a table.
inline constexpr std::size_t walked_grants = 32;
// Parts of rules that the table of all roles takes, some 50 bytes each at most. The default roles
// have 2,000, 500 roles of eight rules 100,000.
inline constexpr std::size_t table_places = 250'000;

}  // namespace troupe::actors::access::defaults
