// A requested write, planned from one state of the store, and its outcome.
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

// The rules under which the new object follows the old one (api/strategy/strategy.hpp).
enum class write_rules : std::uint8_t {
  object,                // create and update of the object itself
  status,                // its subresource status
  finalize,              // of a namespace
  ephemeral_containers,  // of a pod
  pod_resize,
  as_is,  // bind, evict, delete: it is complete
};

// How the managed fields of the object follow from the write.
struct field_tracking {
  api::field_manager by;
  // Of a server-side apply: what they are then. Nothing: as after any other write.
  std::optional<api::managed_fields> applied;
};

struct proposal {
  api::kind_handle kind;
  admission::operation op = admission::operation::create;
  std::string_view subresource = {};  // lives as long as the write
  write_rules rules = write_rules::object;
  api::object_ptr before = nullptr;            // null: it is created
  std::unique_ptr<api::body> after = nullptr;  // null: it is removed
  // Changes that are written along with it, and their preconditions.
  persistence::transaction also = {};
  // The schema's rules were checked: by the template that a pod comes from, when that was written;
  // or our own code made all of it.
  bool validated = false;
  // There is nothing to change; `before` is the result.
  bool settled = false;
  // Null: nobody has ever applied the object, or who writes is not followed.
  std::shared_ptr<const field_tracking> tracking = nullptr;
};

// A proposal that was admitted.
struct write_plan {
  // The object that the write is about is changed first. Empty: nothing to change.
  persistence::transaction transaction = {};
  // The object before; the answer where nothing changes.
  api::object_ptr before = nullptr;
  // Answered instead of the committed object, where that is not what the client wrote: an update
  // that ends a deletion.
  api::object_ptr shown = nullptr;
};

struct write_result {
  api::object_ptr object;
  bool created = false;
  bool removed = false;  // the object is no more
};

}  // namespace troupe::actors
