// The one way in which new objects enter the store, for clients' requests and for controllers
// alike.
#pragma once

#include <memory>
#include <random>

#include "api/error.hpp"
#include "api/object.hpp"
#include "persistence/snapshot.hpp"
#include "persistence/store.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// What a controller makes comes from a template that was validated when it was written.
enum class creator { client, controller };

// The transaction that creates `content` in the namespace that its metadata names: completes it
// (defaults, identity, admission), validates it if a client made it, and demands that its
// key is absent and its namespace still what `state` says. `random` decides name and uid.
//
// A conflict on the first precondition means that the name is taken, on another that the namespace
// has changed: look again with a newer state.
api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           creator by, runtime::wall_time now,
                                                           std::mt19937_64& random);

}  // namespace troupe::actors
