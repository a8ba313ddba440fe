// The JSON of objects of custom kinds, which is also their stored form: metadata along the schema,
// the rest as it is, in canonical form. So equal objects have equal bytes.
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
  // As the document says; empty where it does not.
  std::string api_version;
  std::string kind;
  // Unknown fields of the metadata and duplicate fields, unless they are to be ignored.
  std::vector<std::string> problems;
};

// What a client sends. Of a member that comes twice the last counts; members of objects end in
// order of name, numbers in one spelling, as upstream has them. The error is what follows "cannot
// be handled as a Foo: ".
tl::expected<custom_document, std::string> read_custom(std::string_view json,
                                                       const decode_options& options);

// What append_custom_json has written: the rest is canonical already.
tl::expected<custom_document, std::string> read_written_custom(std::string_view json);

// `api_version` and `kind` come first in the object; empty ones are left out.
void append_custom_json(std::string& out, const CustomBody& content, std::string_view api_version,
                        std::string_view kind);

}  // namespace troupe::api
