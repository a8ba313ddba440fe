// The constants of access control with their sources.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::access::defaults {

using namespace std::chrono_literals;

// The pause before a failed write of an aggregated role is retried.
inline constexpr auto aggregation_retry = 1s;
// The maximum of selected roles that are kept while the rules of all aggregated roles are computed:
// 8 bytes each.
inline constexpr std::size_t selections_kept = 1'000'000;
// The maximum of parts (one verb, group, resource and name, or path) in an escalation check: ten
// times those of the largest roles in use. A role with more is rejected unchecked.
inline constexpr std::size_t covered_parts = 20'000;
// The maximum of bindings of a subject, in one namespace or the cluster, that a request walks:
// about 50 ns each. A subject with more is authorized by the table.
inline constexpr std::size_t walked_grants = 32;
// The maximum of rule parts in the table of all roles, up to 50 bytes each. The default roles have
// 2,000; 500 roles of eight rules have 100,000.
inline constexpr std::size_t table_places = 250'000;

}  // namespace troupe::actors::access::defaults
