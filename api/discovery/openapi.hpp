// The description of the API for clients that check manifests and explain fields (`kubectl create`,
// `apply`, `explain`): OpenAPI v2 as JSON and protobuf, and v3 by group version. Made from the
// kinds at the first request and kept until these change. Safe from any thread.
#pragma once

#include <string_view>

#include "api/discovery/discovery.hpp"

namespace troupe::api {

document_text openapi_v2_json();
// gnostic's protobuf form: application/com.github.proto-openapi.spec.v2@v1.0+protobuf.
document_text openapi_v2_protobuf();

// /openapi/v3: where the documents of the group versions are, with a hash that changes with them.
document_text openapi_v3_index();
// `path` is "api/v1" or "apis/apps/v1"; null when there is none.
document_text openapi_v3_document(std::string_view path);

}  // namespace troupe::api
