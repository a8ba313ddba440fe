// A proposed write, planned from one state of the store, and its result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "actors/write/admission/attributes.hpp"
#include "api/apply/field_managers.hpp"
#include "api/object/object.hpp"
#include "persistence/transaction.hpp"

namespace troupe::actors {

// The rules for the transition from the old object to the new (api/strategy/strategy.hpp).
enum class write_rules : std::uint8_t {
  object,                // create and update of the object itself
  status,                // its subresource status
  finalize,              // of a namespace
  ephemeral_containers,  // of a pod
  pod_resize,
  as_is,  // bind, evict, delete: the object is complete
};

// How the write updates the object's managed fields.
struct field_tracking {
  api::field_manager by;
  // The managed fields after a server-side apply. Nothing: updated as after any other write.
  std::optional<api::managed_fields> applied;
};

struct proposal {
  api::kind_handle kind;
  admission::operation op = admission::operation::create;
  std::string_view subresource = {};  // must stay valid as long as the write
  write_rules rules = write_rules::object;
  api::object_ptr before = nullptr;            // null: the object is created
  std::unique_ptr<api::body> after = nullptr;  // null: the object is removed
  // Additional changes of the same transaction, and their preconditions.
  persistence::transaction also = {};
  // The schema was already checked: with the template from which the pod is created, or because our
  // own code created the whole object.
  bool validated = false;
  // Nothing to change; `before` is the result.
  bool settled = false;
  // Null: no manager has ever applied the object, or this writer is not tracked.
  std::shared_ptr<const field_tracking> tracking = nullptr;
};

// A proposal that was admitted.
struct write_plan {
  // The first mutation is that of the written object. Empty: nothing to change.
  persistence::transaction transaction = {};
  // The previous object; the result if nothing changes.
  api::object_ptr before = nullptr;
  // Returned in place of the committed object if the two differ: for an update that completes a
  // deletion.
  api::object_ptr shown = nullptr;
};

struct write_result {
  api::object_ptr object;
  bool created = false;
  bool removed = false;  // the object was removed
};

}  // namespace troupe::actors
