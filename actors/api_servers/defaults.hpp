// The constants that stand for behaviour of the records of control planes, each with its source.
#pragma once

#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::actors::api_server_defaults {

using namespace std::chrono_literals;

// How often a control plane renews its record, and after how many renewals of its own it takes one
// that was not renewed for that of a dead one: 15 to 20 s (kubernetes:
// pkg/controlplane/reconcilers, DefaultEndpointReconcilerTTL 15 s).
inline constexpr runtime::duration renewal = 5s;
inline constexpr int missed_renewals = 3;
// So soon the first record stands in the Endpoints, and the address of a link that begins to listen
// in its record.
inline constexpr runtime::duration look = 500ms;
// Control planes that are told of: etcd's members are seven at most, and each machine has a link to
// each of them.
inline constexpr std::size_t api_servers = 9;
inline constexpr std::size_t text_limit_bytes = 8u << 10;
// For the record of a control plane that ends; what it does not reach, the others remove.
inline constexpr runtime::duration withdrawal_wait = 2s;

}  // namespace troupe::actors::api_server_defaults
