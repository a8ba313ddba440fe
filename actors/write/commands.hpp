// Plans commands: a pure function from the current state and a command to a transaction, or to the
// error for the client. The write service admits and commits the plan, and plans again after a
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
  // The object that the transaction changes; if the command has already been applied, the current
  // object.
  api::object_ptr object;
  persistence::transaction transaction;  // empty: nothing to change
};

// kubernetes: pkg/registry/core/pod/storage, assignPod.
api::expected<command_plan> plan_bind(const persistence::snapshot& state, const bind& command,
                                      runtime::wall_time now);

// kubernetes: pkg/registry/core/pod/storage, eviction.go, without the budgets (eviction.hpp).
api::expected<command_plan> plan_evict(const persistence::snapshot& state, const evict& command,
                                       runtime::wall_time now);

// Plans a deletion like a client's DELETE.
api::expected<command_plan> plan_remove(const persistence::snapshot& state, const remove& command,
                                        runtime::wall_time now);

// Plans a DELETE of the object at `key`; returns 404 with `name` if it does not exist.
api::expected<command_plan> plan_removal(const persistence::snapshot& state,
                                         const api::kind_info& kind, std::string_view key,
                                         std::string_view name,
                                         const api::meta::v1::DeleteOptions& options,
                                         runtime::wall_time now);

// Converts a plan to a proposal for admission: a write of a subresource, or a deletion.
api::expected<proposal> propose(api::expected<command_plan> plan, std::string_view subresource);
api::expected<proposal> propose_removal(api::expected<command_plan> plan);

// Replaces `old` by `content`; removes the object if this removes the last finalizer of an object
// that is being deleted.
persistence::transaction succeed(const api::object& old, std::unique_ptr<api::body> content);

}  // namespace troupe::actors
