// Patches: changes by clients that do not send the whole object. A patch is applied to the JSON of
// an object and returns JSON, which the caller decodes like that of a PUT (with the checks of
// schema, unknown fields and validation).
//
// Bounded: nesting, operations, copied bytes, and the work of one patch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"

namespace troupe::api {

enum class patch_form {
  json,       // application/json-patch+json, RFC 6902
  merge,      // application/merge-patch+json, RFC 7386
  strategic,  // application/strategic-merge-patch+json, by the merge keys of the schema
};

// From a Content-Type; ignores parameters.
std::optional<patch_form> patch_form_of(std::string_view content_type);

// 400 for a malformed patch, 422 for one that does not fit the document (a missing path, a failed
// `test`), 413 for one that is too large. `type` is the document's, for strategic patches.
// `problems` (may be null) gets `duplicate field "data.k"` for each repeated member of a merge or
// strategic patch (the last one counts), and `json patch unknown field "[0].foo"` for an operation
// of a JSON patch; at most limits::document_problems.
expected<std::string> apply_patch(patch_form form, const google::protobuf::Descriptor& type,
                                  std::string_view document, std::string_view patch,
                                  std::vector<std::string>* problems = nullptr);

}  // namespace troupe::api
