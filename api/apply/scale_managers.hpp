// Converts the ownership of an object's replica count to that of its scale, and back. Pure.
//
// kubernetes: apimachinery/pkg/util/managedfields, ScaleHandler.
#pragma once

#include <string>
#include <vector>

#include "api/apply/field_managers.hpp"

namespace troupe::api {

// The managed fields of the scale: the managers that own the object's replica count, which is at
// `path` in the object.
managed_fields scale_managers(const managed_fields& of_object,
                              const std::vector<std::string>& path);

// The object's fields after a write of its scale: ownership of the count follows the
// scale's.
managed_fields object_managers(const managed_fields& of_object, const managed_fields& of_scale,
                               const kind_info& kind, const std::vector<std::string>& path);

}  // namespace troupe::api
