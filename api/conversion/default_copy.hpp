// The conversion of what has the same shape in two versions: fields of the same JSON name and type
// are copied, at any depth.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// True when all that is set in `from` was copied; what has no equal in `to` is left out.
bool default_copy(const body& from, body& to);

}  // namespace troupe::api
