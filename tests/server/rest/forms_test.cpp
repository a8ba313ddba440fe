#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>

#include "api/object/object.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/rest/answers/frames.hpp"
#include "server/rest/answers/pretty.hpp"
#include "server/rest/defaults.hpp"
#include "server/rest/requests/continue_token.hpp"
#include "server/rest/requests/negotiation.hpp"
#include "server/rest/requests/route.hpp"

using namespace troupe;
using namespace troupe::server;
using place = route::place;

namespace {

struct parsed {
  request_info info;
  server::route route;
  std::optional<server::verb> verb;
};

std::unique_ptr<parsed> parse(std::string_view method, std::string_view path,
                              const std::string& query = {}) {
  auto out = std::make_unique<parsed>();
  out->info = parse_request_info(method, path, query_string{query});
  out->route = route_of(out->info);
  out->verb = verb_of(out->route, out->info);
  return out;
}

}  // namespace

TEST_CASE("paths lead to kinds, documents or nowhere") {
  const auto pod = parse("GET", "/api/v1/namespaces/default/pods/web");
  CHECK(pod->route.at == place::objects);
  CHECK(pod->route.kind == &api::kind_of<api::core::v1::Pod>());
  CHECK(pod->route.ns == "default");
  CHECK(pod->route.name == "web");
  CHECK(pod->verb == verb::get);

  const auto scale = parse("PATCH", "/apis/apps/v1/namespaces/x/deployments/d/scale");
  CHECK(scale->route.kind == &api::kind_of<api::apps::v1::Deployment>());
  CHECK(scale->route.subresource == "scale");
  CHECK(scale->verb == verb::patch);

  const auto space = parse("GET", "/api/v1/namespaces/default");
  CHECK(space->route.kind->plural() == "namespaces");
  CHECK(space->route.name == "default");
  CHECK(space->route.ns.empty());
  CHECK(parse("PUT", "/api/v1/namespaces/default/finalize")->route.subresource == "finalize");

  CHECK(parse("GET", "/")->route.at == place::root);
  CHECK(parse("GET", "/api")->route.at == place::versions);
  CHECK(parse("GET", "/api/v1")->route.at == place::resources);
  CHECK(parse("GET", "/apis/")->route.at == place::groups);
  CHECK(parse("GET", "/apis/apps")->route.at == place::group);
  CHECK(parse("GET", "/apis/apps/v1")->route.at == place::resources);
  CHECK(parse("GET", "/openapi/v2")->route.at == place::openapi_v2);
  CHECK(parse("GET", "/openapi/v3/apis/apps/v1")->route.name == "apis/apps/v1");

  for (const char* path :
       {"/api/v1/nothings", "/api/v1/pods/web", "/api/v1/namespaces/x/nodes", "/api/v2/pods",
        "/api/v1/namespaces/x/pods/web/scale", "/api/v1/namespaces/x/pods/web/log/more", "/apiz"}) {
    INFO(path);
    CHECK(parse("GET", path)->route.at == place::unknown);
  }
}

TEST_CASE("a method has a meaning only where it makes sense") {
  CHECK(parse("GET", "/api/v1/pods")->verb == verb::list);
  CHECK(parse("GET", "/api/v1/pods", "watch=1")->verb == verb::watch);
  CHECK(parse("GET", "/api/v1/watch/pods")->verb == verb::watch);
  CHECK(parse("GET", "/api/v1/namespaces/x/pods", "fieldSelector=metadata.name%3Da")->verb ==
        verb::list);
  CHECK(parse("POST", "/api/v1/namespaces/x/pods")->verb == verb::create);
  CHECK(parse("POST", "/api/v1/namespaces/x/pods/web/eviction")->verb == verb::create);
  CHECK(parse("DELETE", "/api/v1/namespaces/x/pods")->verb == verb::remove_all);
  CHECK_FALSE(parse("POST", "/api/v1/namespaces/x/pods/web")->verb);
  CHECK_FALSE(parse("PUT", "/api/v1/namespaces/x/pods")->verb);
  CHECK_FALSE(parse("DELETE", "/api/v1/namespaces/x/pods/web/status")->verb);
  CHECK(parse("DELETE", "/api/v1/namespaces/x/pods/web/proxy/a/b")->verb == verb::remove);
  CHECK_FALSE(parse("OPTIONS", "/api/v1/namespaces/x/pods")->verb);
}

TEST_CASE("a table that is watched shows the age at the time of the watch") {
  auto pod = std::make_unique<api::core::v1::Pod>();
  pod->mutable_metadata()->set_name("web");
  pod->mutable_metadata()->mutable_creation_timestamp()->set_seconds(std::time(nullptr) - 5);
  const auto object =
      std::make_shared<const api::object>(api::kind_of<api::core::v1::Pod>(), std::move(pod), 7);
  frame_form form;
  form.answer.as = shape::table;
  frame_cache cache;
  const auto added = [&] {
    return std::string{*cache.get(form, actors::event_type::added, object)};
  };
  const auto first = added();
  CHECK(server::testing::eventually([&] { return added() != first; }));
}

TEST_CASE("the best form that both sides know is chosen") {
  const auto form = [](const char* accept, bool watching = false) {
    return negotiate(accept, {.watching = watching});
  };
  CHECK(form("")->media == api::media::json);
  CHECK(form("*/*")->media == api::media::json);
  CHECK(form("application/yaml")->media == api::media::yaml);
  CHECK(form("application/vnd.kubernetes.protobuf,application/json")->media ==
        api::media::protobuf);
  CHECK(form("application/json;q=0.5, application/yaml")->media == api::media::yaml);
  CHECK(form("text/html,application/xhtml+xml,*/*;q=0.8")->media == api::media::json);
  const auto table = form(
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
      "g=meta.k8s.io,application/json");
  CHECK(table->as == shape::table);
  CHECK(table->v1);
  CHECK_FALSE(form("application/json;as=Table;v=v1beta1;g=meta.k8s.io")->v1);
  CHECK(form("application/json;as=Table;v=v9;g=meta.k8s.io,application/json")->as == shape::object);
  CHECK(form("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
            ->as == shape::metadata);
  CHECK(form("text/plain").error().code == 406);
  CHECK(form("application/yaml", true).error().code == 406);
  CHECK(form("application/json;stream=watch", true)->media == api::media::json);
}

TEST_CASE("discovery is aggregated in the version that the client knows") {
  CHECK(negotiate_discovery("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                            "application/json;g=apidiscovery.k8s.io;v=v2beta1;"
                            "as=APIGroupDiscoveryList,application/json") == "v2");
  CHECK(negotiate_discovery("application/json;g=apidiscovery.k8s.io;v=v2beta1;"
                            "as=APIGroupDiscoveryList,application/json") == "v2beta1");
  CHECK(negotiate_discovery("application/json, */*").empty());
  CHECK(negotiate_discovery("").empty());
}

TEST_CASE("the form of a body is that of its content type") {
  CHECK(*body_media("") == api::media::json);
  CHECK(*body_media("Application/JSON; charset=utf-8") == api::media::json);
  CHECK(*body_media("application/vnd.kubernetes.protobuf") == api::media::protobuf);
  CHECK(body_media("text/plain").error().code == 415);
}

TEST_CASE("a continue token is decoded unchanged, and any other text is refused") {
  const auto text = encode_token({1234, "default/we\"b"});
  CHECK(text.find('=') == std::string::npos);
  const auto back = decode_token(text);
  REQUIRE(back);
  CHECK(back->revision == 1234);
  CHECK(back->after == "default/we\"b");
  CHECK(decode_token(encode_token({-1, "a"}))->revision == -1);
  for (const char* bad : {"x", "e30", "bnVsbA", "!!!", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"})
    CHECK(decode_token(bad).error().code == 400);
  CHECK(decode_token(std::string(100'000, 'A')).error().code == 400);
}

TEST_CASE("JSON for people has one member to a line") {
  const std::string json = R"({"a":{"b":[1,2],"c":"x,{\"\\"},"d":[],"e":{}})";
  const std::string lines =
      "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ],\n    \"c\": \"x,{\\\"\\\\\"\n  },\n"
      "  \"d\": [],\n  \"e\": {}\n}\n";
  CHECK(pretty_body(json).text() == lines);
  body cut;
  for (const char c : json)
    cut.add(std::string_view{&c, 1});
  CHECK(pretty_body(std::move(cut)).text() == lines);
}

TEST_CASE("deep JSON for people is made in parts, and is not indented without limit") {
  std::string deep(1'000, '[');
  deep += '1';
  for (int i = 0; i < 100'000; ++i)
    deep += ",1";
  deep.append(1'000, ']');
  auto made = pretty_body(deep);
  auto largest = made.size_bytes(), all = largest;
  for (auto rest = made.release_rest(); rest;) {
    body part;
    if (!rest(part)) rest = nullptr;
    largest = std::max(largest, part.size_bytes());
    all += part.size_bytes();
  }
  CHECK(all > deep.size());
  CHECK(all < 40 * deep.size());
  CHECK(largest < 40 * defaults::pretty_part);
}
