// Converts protobuf between kube-apiserver's form, with zeros, and this program's, without.
//
// Go's generated code writes every non-pointer field: zeros, empty strings and empty messages too.
// This program omits fields without information. The schema defines which: scalars without
// `presence`, and messages that are `always` present or inlined.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/codec/type_plan.hpp"

namespace troupe::api {

// Converts canonical `wire` to the form of upstream's release 1.`minor`. Returns nullopt if the
// bytes are not a message of the type.
std::optional<std::string> with_zeros(const type_plan& type, std::string_view wire, int minor);

// The reverse, for any release. Keeps fields that are not in the schema.
std::optional<std::string> without_zeros(const type_plan& type, std::string_view wire);

}  // namespace troupe::api
