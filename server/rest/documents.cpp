#include "server/rest/documents.hpp"

#include <string>

#include "api/discovery.hpp"
#include "api/openapi.hpp"

namespace troupe::server {

namespace {

// kubernetes: apimachinery/pkg/api/errors, NewGenericServerResponse for 404.
api::error no_such_path() {
  api::error out;
  out.code = 404;
  out.reason = "NotFound";
  out.message = "the server could not find the requested resource";
  return out;
}

void answer_json(const call_ptr& what, const std::string& text, std::string type) {
  if (text.empty()) return what->fail(no_such_path());
  // The documents live as long as the program: the pointer shares nothing and owns nothing.
  what->answer(json_answer(200, std::move(type), shared_text{shared_text{}, &text}));
}

// /api and /apis: all at once for those who can read it, else what is plain.
void answer_discovery(const call_ptr& what, bool core) {
  const auto version = negotiate_discovery(what->what->headers.joined("accept"));
  if (version.empty())
    return answer_json(what, core ? api::core_versions_document() : api::groups_document(),
                       "application/json");
  answer_json(what, api::aggregated_document(core, version),
              "application/json;g=apidiscovery.k8s.io;v=" + std::string{version} +
                  ";as=APIGroupDiscoveryList");
}

// Old clients take only protobuf, and would rather fail than read JSON.
void answer_openapi_v2(const call_ptr& what) {
  // What clients ask for has an @ in it, which is no media type in an answer.
  constexpr std::string_view type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const auto accept = what->what->headers.joined("accept");
  if (accept.find("com.github.proto-openapi.spec.v2") == accept.npos)
    return answer_json(what, api::openapi_v2_json(), "application/json");
  answer_json(what, api::openapi_v2_protobuf(), std::string{type});
}

void answer_openapi_v3(const call_ptr& what) {
  auto path = what->where.name;
  if (path.starts_with('/')) path.remove_prefix(1);
  answer_json(what, path.empty() ? api::openapi_v3_index() : api::openapi_v3_document(path),
              "application/json");
}

// kubectl asks for them when it does not know a kind, and says "no matches for kind" only after it
// has read that there are none.
constexpr std::string_view custom_kinds_path =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

void answer_no_custom_kinds(const call_ptr& what) {
  static const std::string text =
      R"({"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1",)"
      R"("metadata":{"resourceVersion":"1"},"items":[]})";
  answer_json(what, text, "application/json");
}

}  // namespace

void serve_document(const call_ptr& what) {
  using place = route::place;
  switch (what->where.at) {
    case place::versions:
      return answer_discovery(what, true);
    case place::groups:
      return answer_discovery(what, false);
    case place::group:
      return answer_json(what, api::group_document(what->where.group), "application/json");
    case place::resources:
      return answer_json(what, api::resources_document(what->where.group, what->where.version),
                         "application/json");
    case place::openapi_v2:
      return answer_openapi_v2(what);
    case place::openapi_v3:
      return answer_openapi_v3(what);
    default:
      if (what->wanted == verb::list && what->what->path == custom_kinds_path)
        return answer_no_custom_kinds(what);
      return what->fail(no_such_path());
  }
}

}  // namespace troupe::server
