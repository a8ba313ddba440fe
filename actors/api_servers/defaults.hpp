// The constants of the records of control planes with their sources.
#pragma once

#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::actors::api_server_defaults {

using namespace std::chrono_literals;

// The period of renewals, and the number of own renewals after which a record that was not renewed
// is dead: 15 to 20 s (kubernetes: pkg/controlplane/reconcilers, DefaultEndpointReconcilerTTL 15
// s).
inline constexpr runtime::duration renewal = 5s;
inline constexpr int missed_renewals = 3;
// The delay until the first record is in the Endpoints, and until the address of a link that starts
// to listen is in the record.
inline constexpr runtime::duration check_period = 500ms;
// The maximum of listed control planes: etcd has at most seven members, and each node has a link to
// each of them.
inline constexpr std::size_t api_servers = 9;
inline constexpr std::size_t text_limit_bytes = 8u << 10;
// Timeout of the withdrawal of a record; the others remove it later if it fails.
inline constexpr runtime::duration withdrawal_wait = 2s;

}  // namespace troupe::actors::api_server_defaults
