// Kinds that upstream 1.33 has deprecated in the version that is served here.
#pragma once

#include <string_view>

#include "api/fwd.hpp"

namespace troupe::api {

// The warning to whoever asks for objects of the kind, but not to watches; empty: none.
// kubernetes: apiserver/pkg/endpoints/deprecation.
std::string_view deprecation_of(const kind_info& kind);

}  // namespace troupe::api
