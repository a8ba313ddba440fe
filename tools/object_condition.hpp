// What `troupe wait --for` can wait for, as a question about one object of the API.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/fwd.hpp"

namespace troupe::tools {

// Null: the object does not exist.
using object_condition = std::function<bool(const api::body*)>;

// `condition=TYPE`, `condition=TYPE=STATUS` (as kubectl: the status is compared without case, and
// True where none is named), `delete`, `desiredReplicas` (Kubernetes #943: as many pods are there
// as are wanted), `FIELD.PATH=VALUE` (a single value of the object, by its JSON names). The error
// names what is wrong with the text.
tl::expected<object_condition, std::string> parse_object_condition(std::string_view text);

// The value at `status.phase`, as text; empty where there is none or it is no single value.
std::string field_text(const api::body& object, std::string_view path);

}  // namespace troupe::tools
