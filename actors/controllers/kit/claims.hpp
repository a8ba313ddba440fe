// The rules by which a controller keeps, adopts, releases or ignores an object that its selector
// may match (kubernetes: controller.BaseControllerRefManager.ClaimObject), and the owner reference
// that says so. Pure; the same for pods of replica sets and replica sets of deployments.
#pragma once

#include <string>
#include <string_view>

#include "api/object/object.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors {

enum class claim {
  ignore,   // another controller's, or nothing to do with this one
  keep,     // controlled by this owner
  adopt,    // without a controller, and the selector matches
  release,  // controlled by this owner, but its labels no longer match
};

claim judge(const api::meta::v1::ObjectMeta& owner, const api::label_selector& selector,
            const api::object& dependent);

// The uid of the owner that has controller=true; empty when there is none.
std::string_view controller_uid(const api::object& dependent);

// The reference to `owner` that lets the dependent go with it.
void add_owner_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);

// The reference by which `owner` controls a dependent (controller=true, blockOwnerDeletion=true).
void add_controller_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);
void remove_controller_reference(const api::object& owner, api::meta::v1::ObjectMeta& dependent);

// Gives or takes a finalizer; nothing when its name is empty.
void set_finalizer(api::meta::v1::ObjectMeta& object, const std::string& finalizer, bool present);

}  // namespace troupe::actors
