#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "api/codec/codec.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/http/query.hpp"
#include "server/rest/defaults.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using server::percent_encode;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";

std::set<std::string> names(const rest_answer& list) {
  std::set<std::string> out;
  for (std::size_t i = 0; i < list.size("items"); ++i)
    out.insert(list.at(fmt::format("items.{}.metadata.name", i)));
  return out;
}

}  // namespace

TEST_CASE("a missing object is a 404 with upstream's message") {
  rest_test server;
  const auto pod = server.get(pods + "/none");
  CHECK(pod.status == 404);
  CHECK(pod.at("kind") == "Status");
  CHECK(pod.at("reason") == "NotFound");
  CHECK(pod.at("message") == "pods \"none\" not found");
  const auto path = server.get("/api/v1/nothings");
  CHECK(path.status == 404);
  CHECK(path.at("message") == "the server could not find the requested resource");
  const auto method = server.post(pods + "/none", "{}");
  CHECK(method.status == 405);
  CHECK(method.at("reason") == "MethodNotAllowed");
  CHECK(server.get(pods, {{"accept", "text/plain"}}).status == 406);
}

TEST_CASE("lists are chosen by labels and by fields") {
  rest_test server;
  server.create_pod("a", R"({"app":"web","tier":"front"})");
  server.create_pod("b", R"({"app":"web"})");
  server.create_pod("c", R"({"app":"db"})");
  const auto list = [&](const std::string& query) { return names(server.get(pods + "?" + query)); };
  CHECK(list("") == std::set<std::string>{"a", "b", "c"});
  CHECK(list("labelSelector=app%3Dweb") == std::set<std::string>{"a", "b"});
  CHECK(list("labelSelector=" + percent_encode("app in (web,db),!tier")) ==
        std::set<std::string>{"b", "c"});
  CHECK(list("fieldSelector=metadata.name%3Dc") == std::set<std::string>{"c"});
  CHECK(list("fieldSelector=metadata.name%3Dc&labelSelector=app%3Dweb").empty());
  CHECK(list("fieldSelector=" + percent_encode("status.phase!=Pending")).empty());
  CHECK(server.get(pods + "?labelSelector=a%3D%3D%3Db").status == 400);
  const auto field = server.get(pods + "?fieldSelector=spec.foo%3Dx");
  CHECK(field.status == 400);
  CHECK_THAT(field.at("message"), Catch::Contains("spec.foo"));
}

TEST_CASE("a selector has a bounded number of terms") {
  rest_test server;
  const auto status = [&](const std::string& selector, const std::string& term, std::size_t count) {
    std::string all = term;
    for (std::size_t i = 1; i < count; ++i)
      all += "," + term;
    return server.get(pods + "?" + selector + "=" + percent_encode(all)).status;
  };
  const auto limit = server::defaults::selector_terms;
  for (const auto& [selector, term] :
       {std::pair{"labelSelector", "!a"}, std::pair{"fieldSelector", "metadata.name!=a"}}) {
    CHECK(status(selector, term, limit) == 200);
    CHECK(status(selector, term, limit + 1) == 400);
  }
}

TEST_CASE("a list is read page by page at the revision of its first page") {
  rest_test server;
  server.create_pods(25);
  auto page = server.get(pods + "?limit=10");
  const auto revision = page.at("metadata.resourceVersion");
  CHECK(page.size("items") == 10);
  CHECK(page.at("metadata.remainingItemCount") == "15");
  // Changes in between are not visible.
  server.create_pod("zzz");
  server.remove(pods + "/p012");
  auto found = names(page);
  const auto next = [&] {
    return server.get(pods + "?limit=10&continue=" + percent_encode(page.at("metadata.continue")));
  };
  page = next();
  CHECK(page.at("metadata.resourceVersion") == revision);
  CHECK(page.at("metadata.remainingItemCount") == "5");
  found.merge(names(page));
  page = next();
  CHECK_FALSE(page.has("metadata.continue"));
  CHECK_FALSE(page.has("metadata.remainingItemCount"));
  found.merge(names(page));
  CHECK(found.size() == 25);
  CHECK(found.contains("p012"));

  // With a selector the remaining objects are not counted.
  page = server.get(pods + "?limit=10&labelSelector=app");
  CHECK(page.has("metadata.continue"));
  CHECK_FALSE(page.has("metadata.remainingItemCount"));
  CHECK(server.get(pods + "?continue=nonsense").status == 400);
}

TEST_CASE("a list is continued after its state has left the memory") {
  rest_test server;
  server.create_pods(5);
  const auto page = server.get(pods + "?limit=2");
  server.remove(pods + "/p003");
  // Enough other lists at other revisions evict it from the cache.
  for (int i = 0; i < 300; ++i) {
    server.create_pod(fmt::format("x{}", i));
    server.get(pods + "?limit=1");
  }
  const auto rest = server.get(pods + "?continue=" + percent_encode(page.at("metadata.continue")));
  CHECK(rest.status == 200);
  CHECK(names(rest) == std::set<std::string>{"p002", "p003", "p004"});
  CHECK(rest.at("metadata.resourceVersion") == page.at("metadata.resourceVersion"));
}

TEST_CASE("a page of a compacted revision is a 410 with a token to continue") {
  rest_test server{{.history_revisions = 1}};
  server.create_pods(5);
  const auto page = server.get(pods + "?limit=2");
  const auto token = page.at("metadata.continue");
  // Enough other lists at other revisions evict it from the cache.
  for (int i = 0; i < 300; ++i) {
    server.create_pod(fmt::format("x{}", i));
    server.get(pods + "?limit=1");
  }
  const auto expired = server.get(pods + "?limit=2&continue=" + percent_encode(token));
  CHECK(expired.status == 410);
  CHECK(expired.at("reason") == "Expired");
  const auto fresh = expired.at("metadata.continue");
  REQUIRE_FALSE(fresh.empty());
  const auto on = server.get(pods + "?limit=2&continue=" + percent_encode(fresh));
  CHECK(on.status == 200);
  CHECK(on.at("items.0.metadata.name") == "p002");
}

TEST_CASE("a read at a revision that has not come is refused, at an old one answered") {
  rest_test server;
  const auto made = server.create_pod("web");
  const auto revision = std::stoull(made.at("metadata.resourceVersion"));
  CHECK(server.get(pods + "?resourceVersion=0").size("items") == 1);
  CHECK(server.get(fmt::format("{}?resourceVersion={}", pods, revision)).size("items") == 1);
  const auto future = server.get(fmt::format("{}?resourceVersion={}", pods, revision + 100));
  CHECK(future.status == 504);
  CHECK(future.at("details.causes.0.reason") == "ResourceVersionTooLarge");
  CHECK(server.get(fmt::format("{}/web?resourceVersion={}", pods, revision + 100)).status == 504);
  CHECK(server.get(pods + "?resourceVersion=abc").status == 400);
  const auto match = server.get(pods + "?resourceVersionMatch=Exact");
  CHECK(match.status == 422);
  CHECK(match.at("details.causes.0.field") == "resourceVersionMatch");
  CHECK(server.get(fmt::format("{}?resourceVersion={}&resourceVersionMatch=Exact", pods, revision))
            .size("items") == 1);
}

TEST_CASE("objects and lists come as YAML, as protobuf and as metadata") {
  rest_test server;
  const auto made = server.create_pod("web");
  const auto yaml = server.get(pods, {{"accept", "application/yaml"}});
  CHECK(yaml.headers.at("content-type") == "application/yaml");
  const auto back = api::yaml_to_json(yaml.text());
  REQUIRE(back);
  CHECK(json_text{*back}.at("kind") == "PodList");
  CHECK(json_text{*back}.at("items.0.metadata.name") == "web");

  const auto wire = server.get(pods + "/web", {{"accept", "application/vnd.kubernetes.protobuf"}});
  CHECK(wire.headers.at("content-type") == "application/vnd.kubernetes.protobuf");
  const auto pod =
      api::decode(wire.text(), api::media::protobuf, &api::kind_of<api::core::v1::Pod>());
  REQUIRE(pod);
  CHECK(api::meta_of(*pod->content).uid() == made.at("metadata.uid"));

  const auto list = server.get(pods, {{"accept", "application/vnd.kubernetes.protobuf"}});
  api::core::v1::PodList decoded;
  REQUIRE(api::decode_into(list.text(), api::media::protobuf, decoded));
  REQUIRE(decoded.items_size() == 1);
  CHECK(decoded.items(0).metadata().name() == "web");

  const auto metadata = server.get(
      pods, {{"accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  CHECK(metadata.at("kind") == "PartialObjectMetadataList");
  CHECK(metadata.at("apiVersion") == "meta.k8s.io/v1");
  CHECK(metadata.at("items.0.metadata.name") == "web");
  CHECK_FALSE(metadata.has("items.0.spec"));
}
