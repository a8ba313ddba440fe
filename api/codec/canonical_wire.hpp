// Normalizes protobuf bytes from clients to the form that this program writes.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/type_plan.hpp"

namespace troupe::api {

// Drops unknown fields and zeros that mean absent (Go clients write every non-pointer field);
// writes quantities in canonical form and times without the parts that JSON cannot express. The
// error names the invalid field, for a 400.
tl::expected<std::string, std::string> canonical_wire(std::string_view wire, const type_plan& type,
                                                      const decode_options& options);

}  // namespace troupe::api
