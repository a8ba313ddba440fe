// The formats that strings of a schema may have.
//
// kubernetes: kube-openapi/pkg/validation/strfmt.
#pragma once

#include <string_view>

namespace troupe::api {

// True of formats that nobody knows.
bool has_format(std::string_view value, std::string_view format);

}  // namespace troupe::api
