// The transaction that creates an object, for those who have none to wait for: controllers, which
// send it to the writer, and code that runs before there are clients. The same stages as those of a
// client's write (pipeline.hpp); steps outside are asked when the transaction reaches the service.
#pragma once

#include <memory>
#include <random>

#include "actors/write/admission/attributes.hpp"
#include "api/error.hpp"
#include "api/object/object.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Done before: by the template that a pod comes from, when that was written; or by our own code,
// which made all of it.
enum class checks { all, done_before };

// Creates `content` in the namespace that its metadata names, as a controller. `random` decides
// name and uid.
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
