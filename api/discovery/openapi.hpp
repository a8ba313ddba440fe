// The description of the API for clients that check manifests and explain fields (`kubectl create`,
// `apply`, `explain`): OpenAPI v2 as JSON and protobuf, and v3 by group version. Made from the
// kinds at the first request and kept until these change. Safe from any thread.
#pragma once

#include <string_view>

#include "api/discovery/discovery.hpp"
#include "api/discovery/foreign_openapi.hpp"
#include "api/discovery/made_of_kinds.hpp"

namespace troupe::api {

class openapi_v2_documents {
 public:
  // With what other servers say of their versions.
  explicit openapi_v2_documents(foreign_openapis others = {});

  document_text json() { return *json_.get(); }
  // gnostic's form: application/com.github.proto-openapi.spec.v2@v1.0+protobuf.
  document_text protobuf() { return *protobuf_.get(); }

 private:
  const foreign_openapis others_;
  made_of_kinds<shared_text> json_, protobuf_;
};

// /openapi/v3: where the documents of the group versions are, with a hash that changes with them.
document_text openapi_v3_index();
// `path` is "api/v1" or "apis/apps/v1"; null when there is none.
document_text openapi_v3_document(std::string_view path);

}  // namespace troupe::api
