// The body of an object of a custom kind, by its parts: what the strategy needs of it.
#pragma once

#include <string>
#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/custom.pb.h"

namespace troupe::api {

// It is an error of the program if the body is of a kind of the schema.
CustomBody& as_custom(body& content);
const CustomBody& as_custom(const body& content);

// Names of members are such as JSON does not escape.

// A member of the object besides its metadata, as canonical JSON; empty where it is absent.
std::string member_of(const CustomBody& content, std::string_view name);
// All others, as CustomBody.rest has them.
std::string without_member(const CustomBody& content, std::string_view name);
// Takes the place of the member; removes it where `json` is empty.
void set_member(CustomBody& content, std::string_view name, std::string_view json);

}  // namespace troupe::api
