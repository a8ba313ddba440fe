// Builds the transaction that creates an object, for callers that cannot wait: controllers, which
// send it to the writer, and code that runs before the API is served. The stages are those of a
// client's write (pipeline.hpp); external steps run when the transaction reaches the service.
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

// `done_before`: the pod's template was checked when it was written, or our own code created the
// whole object.
enum class checks { all, done_before };

// Creates `content` as a controller, in the namespace of its metadata. `random` generates name and
// uid.
//
// A conflict on the first precondition means that the name is taken; on another one, that the
// namespace has changed: retry with a newer state.
api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           checks validation,
                                                           runtime::wall_time now,
                                                           std::mt19937_64& random);

}  // namespace troupe::actors
