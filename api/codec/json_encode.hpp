// Encodes protobuf's wire bytes as JSON text.
#pragma once

#include <string>
#include <string_view>

#include "api/codec/type_plan.hpp"

namespace troupe::api {

// `wire` is output of append_wire for a message of the type: fields in order, lists in one piece.
// `api_version` and `kind` come first in the object; empty ones are omitted. Messages with a
// special JSON form (Time, Quantity ...) are written in it.
void append_json(std::string& out, const type_plan& type, std::string_view wire,
                 std::string_view api_version, std::string_view kind);

}  // namespace troupe::api
