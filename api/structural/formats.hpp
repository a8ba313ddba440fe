// The string formats of a schema.
//
// kubernetes: kube-openapi/pkg/validation/strfmt.
#pragma once

#include <string_view>

namespace troupe::api {

// True for unknown formats.
bool has_format(std::string_view value, std::string_view format);

}  // namespace troupe::api
