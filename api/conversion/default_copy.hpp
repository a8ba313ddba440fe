// The conversion between equal shapes in two versions: copies fields of the same JSON name and
// type, at any depth.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// Returns true if all set fields of `from` were copied; fields without a counterpart are dropped.
bool default_copy(const body& from, body& to);

}  // namespace troupe::api
