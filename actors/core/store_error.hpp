// The store's errors as clients of the API see them.
#pragma once

#include <string_view>

#include "api/error.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

// `kind` and `name`: of the object of the request. A conflict is worded as upstream: the object
// has been modified meanwhile.
api::error to_api_error(const persistence::error& e, const api::kind_info& kind,
                        std::string_view name);

}  // namespace troupe::actors
