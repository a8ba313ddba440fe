// Responses of aggregated API servers: lists of resources, OpenAPI documents, and metrics.
#include "actors/core/metric_questions.hpp"
#include "api/discovery/foreign_openapi.hpp"
#include "api/discovery/foreign_versions.hpp"
#include "api/discovery/limits.hpp"
#include "api/limits.hpp"
#include "server/rest/aggregation/metric_requests.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

std::vector<std::string> lists() {
  return {
      R"({"kind":"APIResourceList","groupVersion":"a.b/v1","resources":[{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get"],"shortNames":["t"]},{"name":"things/status","kind":"Thing","verbs":["get"]}]})",
      R"({"kind":"APIResourceList","groupVersion":"a.b/v1","resources":[{"name":"others/scale","group":"autoscaling","version":"v1","kind":"Scale"}]})"};
}

void read_list(std::string_view text) {
  const auto read = api::read_resource_list(text, "a.b", "v1");
  if (!read) return;
  require(read->size() <= api::limits::foreign_resources, "a list has its bound");
  for (const auto& resource : *read)
    require(resource.name.find('/') == resource.name.npos, "a resource is no part of another");
}

std::vector<std::string> documents() {
  return {
      R"({"paths":{"/apis/a.b/v1/x":{"get":{"schema":{"$ref":"#/definitions/X"}}}},"definitions":{"X":{"items":{"$ref":"#/definitions/Y"}},"Y":{}}})",
      R"({"paths":{"/apis/a.b/v1/":7,"/apis/c/v1/x":{}},"definitions":[]})"};
}

void read_document(std::string_view text) {
  auto read = api::read_openapi_v2(text, "a.b", "v1");
  if (!read) return;
  require(read->bytes() <= api::limits::foreign_openapi_bytes, "a document has its bound");
  for (const auto& [path, content] : read->paths)
    require(path.starts_with("/apis/a.b/v1/"), "a path is one of the version");
  const auto kept = std::make_shared<const api::foreign_openapi>(std::move(*read));
  require(api::merge_openapi({kept, kept}, {}) == *kept, "what is said twice is said once");
}

std::vector<std::string> metrics() {
  return {
      R"(0{"items":[{"describedObject":{"name":"p"},"timestamp":"2023-11-14T22:13:20Z","windowSeconds":30,"value":"1500m"}]})",
      R"(2{"items":[{"metricName":"queue","value":"7"}]})",
      R"(3{"items":[{"metadata":{"name":"p"},"window":"15s","timestamp":"2023-11-14T22:13:20Z","containers":[{"name":"c","usage":{"cpu":"250m","memory":"1Mi"}}]}]})"};
}

// The first byte selects the request.
void read_metrics(std::string_view bytes) {
  if (bytes.empty()) return;
  using source = actors::metric_query::source;
  const auto of = static_cast<source>(static_cast<unsigned char>(bytes.front()) % 4);
  const server::fetch_answer answer{200, std::string{bytes.substr(1)}};
  const auto read = server::read_metrics({.of = of}, answer);
  if (!read) return require(!read.error().empty(), "what is no answer is said");
  require(!read->empty(), "an answer has a value");
  require(of != source::object || read->size() == 1, "an object has one value");
}

}  // namespace

void add_aggregation(std::vector<entry>& to) {
  to.push_back({"resource_list", &lists, &read_list});
  to.push_back({"openapi_document", &documents, &read_document});
  to.push_back({"metric_list", &metrics, &read_metrics});
}

}  // namespace troupe::fuzz
