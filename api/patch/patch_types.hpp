// The three patch types on JSON trees; for patch.cpp.
#pragma once

#include "api/codec/json_dom.hpp"
#include "api/type_info.hpp"

namespace troupe::api {

// `patch` is consumed: its values move into the document.
expected<void> apply_json_patch(json_document& document, json_document& patch);
void apply_merge_patch(json_value& document, json_value& patch, json_allocator& allocator);
expected<void> apply_strategic_patch(const type_info& type, json_value& document, json_value& patch,
                                     json_allocator& allocator);

// The error for a patch that cannot be applied to the document: 422, with the reason in its
// message.
error patch_does_not_fit(const std::string& reason);

}  // namespace troupe::api
