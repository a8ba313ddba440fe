// Protobuf bytes from clients, brought to the form in which the program itself writes them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/type_plan.hpp"

namespace troupe::api {

// Fields that the schema does not know are dropped, and so are zeros that mean absent (Go clients
// write every field that is no pointer); quantities take their one form, times lose what JSON
// cannot say. The error says which field is wrong, for a 400.
tl::expected<std::string, std::string> canonical_wire(std::string_view wire, const type_plan& type,
                                                      const decode_options& options);

}  // namespace troupe::api
