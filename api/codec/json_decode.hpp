// Decodes JSON text to protobuf's wire bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/codec/type_plan.hpp"

namespace troupe::api {

struct wire_document {
  std::string wire;
  // From the document; empty if absent.
  std::string api_version;
  std::string kind;
  // Unknown and duplicate fields, unless the options ignore them.
  std::vector<std::string> problems;
};

// The error is the text after "cannot be handled as a Pod: ".
tl::expected<wire_document, std::string> json_to_wire(std::string_view text, const type_plan& type,
                                                      const decode_options& options);

struct type_names {
  std::string api_version;
  std::string kind;
};

// Reads only as far as needed, and returns partial results for invalid JSON.
type_names find_type_names(std::string_view json);

// True if the text is exactly one JSON value, nested no deeper than the limit.
bool is_json(std::string_view text, std::size_t depth_limit);
// The same value without white space; nullopt if the text is not one value.
std::optional<std::string> compact_json(std::string_view text, std::size_t depth_limit);

}  // namespace troupe::api
