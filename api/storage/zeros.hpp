// Protobuf as kube-apiserver stores it, and as this program writes it.
//
// Go's generated code writes every field that is no pointer: zeros, empty strings and empty
// messages too. This program leaves out what says nothing. The schema tells which fields those are:
// scalars without `presence`, and messages that are `always` there or inlined.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/codec/type_plan.hpp"

namespace troupe::api {

// `wire` in canonical form, as upstream's release 1.`minor` stores it. Nothing for bytes that are
// no message of the type.
std::optional<std::string> with_zeros(const type_plan& type, std::string_view wire, int minor);

// The other way round, whichever release it was. Fields that the schema does not know stay.
std::optional<std::string> without_zeros(const type_plan& type, std::string_view wire);

}  // namespace troupe::api
