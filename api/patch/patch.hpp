// Patches: changes by a client that does not send the whole object. They work on the JSON
// of an object and give back JSON, which the caller decodes as it would a PUT (the schema, unknown
// fields and validation are checked there).
//
// Bounded: nesting, operations, bytes that copies add, and the work of one patch.
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

// Of a Content-Type, parameters ignored.
std::optional<patch_form> patch_form_of(std::string_view content_type);

// 400 for a patch that is none, 422 for one that does not fit the document (a path that is not
// there, a failed `test`), 413 for one that is too much. `type` is the document's, for strategic
// patches. `repeated` (may be null) gets `duplicate field "data.k"` for each member that comes
// twice in a merge or strategic patch, of which the last counts; limits::document_problems at most.
expected<std::string> apply_patch(patch_form form, const google::protobuf::Descriptor& type,
                                  std::string_view document, std::string_view patch,
                                  std::vector<std::string>* repeated = nullptr);

// The merge patch that makes `to` of `from`, both JSON objects. 400 where one is none.
expected<std::string> merge_patch_between(std::string_view from, std::string_view to);

}  // namespace troupe::api
