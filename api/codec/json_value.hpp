// Converts single JSON values to the wire format: the accepted values of each type, and the errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/codec/json_sax.hpp"
#include "api/codec/type_plan.hpp"
#include "api/codec/wire_writer.hpp"

namespace troupe::api {

struct json_scalar {
  scalar_kind kind = scalar_kind::null;
  std::string_view text;
};

// How a zero is written: omitted if it means absent, kept if it is a value, written with all its
// parts if it overrides an earlier value.
enum class zero : std::uint8_t { absent, kept, overriding };

// Writes `given`, which is not null, as field `number`. Returns the error, e.g. `cannot unmarshal
// string into %s of type int32`, where %s is for the place.
std::optional<std::string> write_scalar(wire::writer& out, shape type, std::uint32_t number,
                                        const json_scalar& given, zero zeros);

// Writes the zero value of the type as field `number`: for null in a list or map.
void write_zero(wire::writer& out, shape type, std::uint32_t number);

// Names as in messages: "int32", "Time"; "number", "string".
std::string_view name_of(shape type);
std::string_view name_of(scalar_kind kind);

// `cannot unmarshal array into %s of type string`.
std::string mismatch(std::string_view given, std::string_view wanted);

}  // namespace troupe::api
