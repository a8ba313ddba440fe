// Single values from JSON to the wire: what each type accepts and what it says of the rest.
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

// What becomes of a zero: it is left out where it means absent, kept where it is a value, and
// written out in all its parts where it overrides a value that came before.
enum class zero : std::uint8_t { absent, kept, overriding };

// Writes `given`, which is not null, as field `number`. Answers what is wrong with the value, e.g.
// `cannot unmarshal string into %s of type int32` where %s is for the place.
std::optional<std::string> write_scalar(wire::writer& out, shape type, std::uint32_t number,
                                        const json_scalar& given, zero zeros);

// The zero of the type as field `number`: for null within a list or map.
void write_zero(wire::writer& out, shape type, std::uint32_t number);

// As messages name them: "int32", "Time"; "number", "string".
std::string_view name_of(shape type);
std::string_view name_of(scalar_kind kind);

// `cannot unmarshal array into %s of type string`.
std::string mismatch(std::string_view given, std::string_view wanted);

}  // namespace troupe::api
