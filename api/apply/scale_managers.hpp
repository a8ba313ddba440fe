// Who owns the number of replicas of an object, as its scale says it, and back. Pure.
//
// kubernetes: apimachinery/pkg/util/managedfields, ScaleHandler.
#pragma once

#include <string>
#include <vector>

#include "api/apply/field_managers.hpp"

namespace troupe::api {

// The managed fields of the scale of an object with those: of each manager that owns the number of
// replicas, whose place in the object `path` says.
managed_fields scale_managers(const managed_fields& of_object,
                              const std::vector<std::string>& path);

// Those of the object after its scale was written: who owns the number there owns it here, alone.
managed_fields object_managers(const managed_fields& of_object, const managed_fields& of_scale,
                               const kind_info& kind, const std::vector<std::string>& path);

}  // namespace troupe::api
