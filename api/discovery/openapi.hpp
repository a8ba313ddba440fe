// The description of the API for clients that check manifests and explain fields (`kubectl create`,
// `apply`, `explain`): OpenAPI v2 as JSON and protobuf, and v3 by group version. Built from the
// kinds at the first request and cached until these change. Thread safe.
#pragma once

#include <string_view>

#include "api/discovery/discovery.hpp"

namespace troupe::api {

document_text openapi_v2_json();
// gnostic's protobuf form: application/com.github.proto-openapi.spec.v2@v1.0+protobuf.
document_text openapi_v2_protobuf();

// /openapi/v3: the paths of the group versions' documents, each with a hash of its content.
document_text openapi_v3_index();
// `path` is "api/v1" or "apis/apps/v1"; null if there is none.
document_text openapi_v3_document(std::string_view path);

}  // namespace troupe::api
