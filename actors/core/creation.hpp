// The one way in which new objects enter the store, for clients' requests and for controllers
// alike.
#pragma once

#include <memory>
#include <random>

#include "api/error.hpp"
#include "api/object/object.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Done before: by the template that a pod comes from, when that was written; or by our own code,
// which made all of it.
enum class checks { all, done_before };

// The transaction that creates `content` in the namespace that its metadata names: completes it
// (defaults, identity, admission), validates it unless that was done before, and demands that
// its key is absent and its namespace still what `state` says. `random` decides name and uid.
//
// A conflict on the first precondition means that the name is taken, on another that the namespace
// has changed: look again with a newer state.
api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           checks validation,
                                                           runtime::wall_time now,
                                                           std::mt19937_64& random);

}  // namespace troupe::actors
