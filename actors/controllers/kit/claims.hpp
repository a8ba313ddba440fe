// The rules by which a controller keeps, adopts, releases or ignores an object that its selector
// may match (kubernetes: controller.BaseControllerRefManager.ClaimObject), and the owner
// references. Pure functions, shared by all controllers.
#pragma once

#include <string_view>

#include "api/object/object.hpp"
#include "api/selectors/selector.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

enum class claim {
  ignore,   // of another controller, or unrelated
  keep,     // controlled by this owner
  adopt,    // no controller, and the selector matches
  release,  // controlled by this owner, but its labels no longer match
};

claim classify(const api::meta::v1::ObjectMeta& owner, const api::label_selector& selector,
               const api::object& dependent);

// The owner with controller=true; null if there is none.
const api::meta::v1::OwnerReference* controller_of(const api::object& dependent);
// Its uid; empty if there is none.
std::string_view controller_uid(const api::object& dependent);
// The same object in the store; null if there is none, or it was deleted.
api::object_ptr stored_controller(const persistence::snapshot& state, const api::object& dependent);

// Adds a reference to `owner`, so that the dependent is garbage collected with it.
void add_owner_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);

// Adds the reference of a controlling owner (controller=true, blockOwnerDeletion=true).
void add_controller_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);
void remove_controller_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);

}  // namespace troupe::actors
