// Commands: a pure function from the present state and the command to a transaction, or to the
// error that a client would get. The write service admits and commits it, and plans again after a
// conflict.
#pragma once

#include <memory>

#include "actors/core/messages.hpp"
#include "actors/write/proposal.hpp"
#include "api/error.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::api::meta::v1 {
class DeleteOptions;
}

namespace troupe::actors {

struct command_plan {
  // The object that the transaction changes; where there is nothing to change, because the command
  // has been carried out before, the object as it is.
  api::object_ptr object;
  persistence::transaction transaction;  // empty: nothing to change
};

// kubernetes: pkg/registry/core/pod/storage, assignPod.
api::expected<command_plan> plan_bind(const persistence::snapshot& state, const bind& command,
                                      runtime::wall_time now);

// kubernetes: pkg/registry/core/pod/storage, eviction.go, but for the budgets (eviction.hpp).
api::expected<command_plan> plan_evict(const persistence::snapshot& state, const evict& command,
                                       runtime::wall_time now);

// As a DELETE by a client.
api::expected<command_plan> plan_remove(const persistence::snapshot& state, const remove& command,
                                        runtime::wall_time now);

// A DELETE of the object of that key; 404 with that name where it is no more.
api::expected<command_plan> plan_removal(const persistence::snapshot& state,
                                         const api::kind_info& kind, std::string_view key,
                                         std::string_view name,
                                         const api::meta::v1::DeleteOptions& options,
                                         runtime::wall_time now);

// The plan as a write that is to be admitted: of a subresource of the object, or its deletion.
api::expected<proposal> propose(api::expected<command_plan> plan, std::string_view subresource);
api::expected<proposal> propose_removal(api::expected<command_plan> plan);

// Makes `content` the successor of `old`; removes the object when that takes away the last
// finalizer for which its deletion waited.
persistence::transaction succeed(const api::object& old, std::unique_ptr<api::body> content);

}  // namespace troupe::actors
