// The description of the API for clients that check manifests and explain fields (`kubectl create`,
// `apply`, `explain`): OpenAPI v2 as JSON and protobuf, and v3 by group version. Built from the
// kinds at the first request and cached until these change. Thread safe.
#pragma once

#include <string_view>

#include "api/discovery/cached_document.hpp"
#include "api/discovery/discovery.hpp"
#include "api/discovery/foreign_openapi.hpp"

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
  cached_document<shared_text> json_, protobuf_;
};

// /openapi/v3: the paths of the group versions' documents, each with a hash of its content.
document_text openapi_v3_index();
// `path` is "api/v1" or "apis/apps/v1"; null if there is none.
document_text openapi_v3_document(std::string_view path);

}  // namespace troupe::api
