// Converts errors of the store to errors of the API.
#pragma once

#include <string_view>

#include "api/error.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

// `kind` and `name` identify the object of the request. A conflict has upstream's message: the
// object has been modified.
api::error to_api_error(const persistence::error& e, const api::kind_info& kind,
                        std::string_view name);

}  // namespace troupe::actors
