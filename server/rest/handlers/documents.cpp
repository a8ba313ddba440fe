#include "server/rest/handlers/documents.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>

#include "api/discovery/discovery.hpp"
#include "api/discovery/openapi.hpp"
#include "server/rest/aggregation/backends.hpp"
#include "server/rest/handlers/tokens.hpp"

namespace troupe::server {

namespace {

void answer_json(const call_ptr& call, api::shared_text text, std::string type) {
  if (!text) return call->fail(path_not_found());
  response out;
  out.content_type = std::move(type);
  out.content.add(std::move(text));
  call->answer(std::move(out));
}

// Paths served besides the API.
constexpr std::string_view other_paths[] = {"/.well-known/openid-configuration",
                                            "/healthz",
                                            "/healthz/etcd",
                                            "/healthz/log",
                                            "/healthz/ping",
                                            "/livez",
                                            "/livez/etcd",
                                            "/livez/log",
                                            "/livez/ping",
                                            "/metrics",
                                            "/openapi/v2",
                                            "/openapi/v3",
                                            "/openapi/v3/",
                                            "/openid/v1/jwks",
                                            "/readyz",
                                            "/readyz/etcd",
                                            "/readyz/log",
                                            "/readyz/ping",
                                            "/version"};

std::shared_ptr<api::discovery_documents> discovery_of(const call_ptr& call) {
  return call->services.aggregated->apis.discovery();
}

// /api and /apis: aggregated for clients that accept it, else the plain document.
void answer_discovery(const call_ptr& call, bool core) {
  const auto known = discovery_of(call);
  const auto version = negotiate_discovery(call->request->headers.joined("accept"));
  if (version.empty())
    return answer_json(call, core ? known->core_versions() : known->groups(), "application/json");
  answer_json(call, known->aggregated(core, version),
              "application/json;g=apidiscovery.k8s.io;v=" + std::string{version} +
                  ";as=APIGroupDiscoveryList");
}

// Old clients accept only protobuf, and fail on JSON.
void answer_openapi_v2(const call_ptr& call) {
  // The media type that clients request contains an @, which is invalid in a response.
  constexpr std::string_view type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const auto documents = call->services.aggregated->apis.openapi();
  const auto accept = call->request->headers.joined("accept");
  if (accept.find("com.github.proto-openapi.spec.v2") == accept.npos)
    return answer_json(call, documents->json(), "application/json");
  answer_json(call, documents->protobuf(), std::string{type});
}

// The index, with the documents of other servers, which clients request
// there.
api::shared_text openapi_v3_index(const aggregated_apis& others) {
  auto own = api::openapi_v3_index();
  const auto names = others.names();
  if (names.empty()) return own;
  rapidjson::Document index;
  index.Parse((*own).data(), own.size());
  auto& memory = index.GetAllocator();
  auto& paths = index["paths"];
  for (const auto& name : names) {
    const auto path = "apis/" + name;
    paths.RemoveMember(path.c_str());
    rapidjson::Value entry{rapidjson::kObjectType};
    entry.AddMember("serverRelativeURL", rapidjson::Value{("/openapi/v3/" + path).c_str(), memory},
                    memory);
    paths.AddMember(rapidjson::Value{path.c_str(), memory}, entry, memory);
  }
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> writer{out};
  index.Accept(writer);
  return api::shared_text{std::string{out.GetString(), out.GetSize()}};
}

void answer_openapi_v3(const call_ptr& call) {
  auto path = call->route.name;
  if (path.starts_with('/')) path.remove_prefix(1);
  answer_json(call,
              path.empty() ? openapi_v3_index(call->services.aggregated->apis)
                           : api::openapi_v3_document(path),
              "application/json");
}

}  // namespace

api::error path_not_found() {
  api::error out;
  out.code = 404;
  out.reason = "NotFound";
  out.message = "the server could not find the requested resource";
  return out;
}

void serve_document(const call_ptr& call) {
  using place = route::place;
  switch (call->route.at) {
    case place::root:
      return answer_json(call, api::shared_text{discovery_of(call)->paths(other_paths)},
                         "application/json");
    case place::versions:
      return answer_discovery(call, true);
    case place::groups:
      return answer_discovery(call, false);
    case place::group:
      return answer_json(call, discovery_of(call)->group(call->route.group), "application/json");
    case place::resources:
      return answer_json(call,
                         discovery_of(call)->resources(call->route.group, call->route.version),
                         "application/json");
    case place::openapi_v2:
      return answer_openapi_v2(call);
    case place::openapi_v3:
      return answer_openapi_v3(call);
    case place::issuer:
      return get_issuer_configuration(call);
    case place::keys:
      return get_issuer_keys(call);
    default:
      return call->fail(path_not_found());
  }
}

}  // namespace troupe::server
