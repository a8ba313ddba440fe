// A condition that `troupe wait --for` waits for: a predicate on one object of the API.
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

// `condition=TYPE`, `condition=TYPE=STATUS` (as kubectl: the status is compared without case and
// defaults to True), `delete`, `desiredReplicas` (Kubernetes #943: the number of pods equals the
// desired one), `FIELD.PATH=VALUE` (field_path.hpp). The error names the mistake in the text, or
// the condition that objects of the kind can never reach.
tl::expected<object_condition, std::string> parse_object_condition(std::string_view text,
                                                                   const api::kind_info& kind);

}  // namespace troupe::tools
