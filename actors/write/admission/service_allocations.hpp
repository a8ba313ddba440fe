// The cluster addresses and node ports of Services as keys of the store, one for each. A key is
// made in the transaction that gives the number to a Service, under the precondition that it is
// absent, and removed in the one that takes the number away: two Services cannot have the same
// number, no number is lost, and Services that choose different numbers never conflict.
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

// Of an address in its usual form.
std::string address_allocation_key(std::string_view address);
// A port number may be taken once for each protocol.
std::string port_allocation_key(std::int32_t port, std::string_view protocol);
bool is_allocation_key(std::string_view key) noexcept;
// The uid of the Service that has the number; empty where nobody has it.
std::string allocation_holder(const persistence::snapshot& state, const std::string& key);

// Adds to a transaction that makes, changes or removes Services what becomes of their keys. Every
// transaction passes here on its way to the store; one without Services costs a look at its kinds.
// Where another has a number that is new to the Service, the commit ends in a conflict on its key.
void follow_services(const persistence::store& store, persistence::transaction& transaction);

// What is wrong between Services and keys, at most `most` of it at once; `transaction` is empty
// where all is well. Safe to commit while Services change, and to try again: each step has its
// precondition.
struct allocation_repair {
  persistence::transaction transaction;
  std::size_t missing = 0;  // of Services that were made before there were keys
  std::size_t leaked = 0;   // of Services that are no more, or have another number now
  // Numbers that two Services have: the first in the order of names keeps the key.
  std::size_t doubled = 0;
};
allocation_repair repair_allocations(const persistence::snapshot& state, std::size_t most);

}  // namespace troupe::actors
