// The cluster addresses and node ports of Services as keys of the store, one for each number. The
// transaction that gives a number to a Service creates the key under the precondition that it is
// absent; the one that takes the number away removes the key. Two Services never share a number, no
// number leaks, and Services with different numbers never conflict.
//
// Pure functions of a snapshot. kubernetes: pkg/registry/core/service/{ipallocator,portallocator},
// networking.k8s.io/v1 IPAddress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

// `address` must be in canonical form.
std::string address_allocation_key(std::string_view address);
// Each protocol has its own keys of ports.
std::string port_allocation_key(std::int32_t port, std::string_view protocol);
bool is_allocation_key(std::string_view key) noexcept;
// The uid of the Service that holds the number; empty if it is free.
std::string allocation_holder(const persistence::snapshot& state, const std::string& key);

// Adds to a transaction that creates, changes or removes Services the changes of their keys. Every
// transaction passes here before the store; one without Services costs a check of its kinds. If
// another Service holds a new number, the commit conflicts on its key.
void follow_services(const persistence::store& store, persistence::transaction& transaction);

// Differences between Services and keys, at most `most` of each pass; `transaction` is empty if
// there are none. Safe to commit while Services change, and to retry: each step has its
// precondition.
struct allocation_repair {
  persistence::transaction transaction;
  std::size_t missing = 0;  // keys of Services that were created before keys existed
  std::size_t leaked = 0;   // keys of Services that were removed or changed their number
  // Numbers that two Services have: the first by name keeps the key.
  std::size_t doubled = 0;
};
allocation_repair repair_allocations(const persistence::snapshot& state, std::size_t most);

}  // namespace troupe::actors
