// The JSON of objects of custom kinds, which is also their stored form: metadata by the schema, the
// rest unchanged, in canonical form. So equal objects have equal bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/schema/custom.pb.h"

namespace troupe::api {

struct custom_document {
  std::unique_ptr<CustomBody> content;
  // From the document; empty if absent.
  std::string api_version;
  std::string kind;
  // Unknown metadata fields and duplicate fields, unless the options ignore them.
  std::vector<std::string> problems;
};

// Reads a client's document. The last of duplicate members counts; members are sorted by name and
// numbers have one spelling, as upstream. The error is the text after "cannot be handled as a Foo:
// ".
tl::expected<custom_document, std::string> read_custom(std::string_view json,
                                                       const decode_options& options);

// Reads output of append_custom_json, which is canonical already.
tl::expected<custom_document, std::string> read_written_custom(std::string_view json);

// `api_version` and `kind` come first in the object; empty ones are omitted.
void append_custom_json(std::string& out, const CustomBody& content, std::string_view api_version,
                        std::string_view kind);

}  // namespace troupe::api
