// What `troupe wait --for` can wait for, as a question about one object of the API.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::tools {

// Null: the object does not exist.
using object_condition = std::function<bool(const api::body*)>;

// `condition=TYPE`, `condition=TYPE=STATUS` (as kubectl: the status is compared without case, and
// True where none is named), `delete`, `desiredReplicas` (Kubernetes #943: as many pods are there
// as are wanted), `FIELD.PATH=VALUE` (field_path.hpp). The error names what is wrong with the text,
// or what objects of the kind can never come to.
tl::expected<object_condition, std::string> parse_object_condition(std::string_view text,
                                                                   const api::kind_info& kind);

}  // namespace troupe::tools
