// JSON text to protobuf's wire bytes.
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
  // As the document says; empty where it does not.
  std::string api_version;
  std::string kind;
  // Unknown and duplicate fields, unless they are to be ignored.
  std::vector<std::string> problems;
};

// The error is what follows "cannot be handled as a Pod: ".
tl::expected<wire_document, std::string> json_to_wire(std::string_view text, const type_plan& type,
                                                      const decode_options& options);

struct type_names {
  std::string api_version;
  std::string kind;
};

// Reads no more than it must, and takes what it can from text that is no JSON.
type_names find_type_names(std::string_view json);

// One JSON value from end to end, not nested deeper than the limit.
bool is_json(std::string_view text, std::size_t depth_limit);
// The same value without white space; nothing where it is none.
std::optional<std::string> compact_json(std::string_view text, std::size_t depth_limit);

}  // namespace troupe::api
