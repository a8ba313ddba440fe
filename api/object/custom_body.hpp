// Access to the members of an object of a custom kind, for the strategy.
#pragma once

#include <string>
#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/custom.pb.h"

namespace troupe::api {

// The body must not be of a built-in kind.
CustomBody& as_custom(body& content);
const CustomBody& as_custom(const body& content);

// Member names must not need escaping in JSON.

// A member of the object besides its metadata, as canonical JSON; empty if it is absent.
std::string member_of(const CustomBody& content, std::string_view name);
// All other members, in the form of CustomBody.rest.
std::string without_member(const CustomBody& content, std::string_view name);
// Replaces the member; removes it if `json` is empty.
void set_member(CustomBody& content, std::string_view name, std::string_view json);

}  // namespace troupe::api
