// Lists that are encoded part by part.
#include "server/rest/answers/list_body.hpp"

#include <catch2/catch.hpp>

#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/rest/answers/pretty.hpp"

using namespace troupe;
using namespace troupe::server;

namespace {

list_page maps(std::size_t count) {
  const auto& kind = api::kind_of<api::core::v1::ConfigMap>();
  list_page page{&kind, {}, 1'000, "token", 7};
  for (std::size_t i = 0; i < count; ++i) {
    auto map = std::make_unique<api::core::v1::ConfigMap>();
    map->mutable_metadata()->set_name("map-" + std::to_string(i));
    (*map->mutable_data())["text"] = std::string(1'000, 'x') + "\"{[,]}";
    page.items.push_back(std::make_shared<const api::object>(kind, std::move(map), i + 1));
  }
  return page;
}

// Objects that the store keeps encoded.
list_page events(std::size_t count) {
  const auto& kind = api::kind_of<api::core::v1::Event>();
  list_page page{&kind, {}, 1'000, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    api::core::v1::Event event;
    event.mutable_metadata()->set_name("event-" + std::to_string(i));
    event.mutable_metadata()->set_generation(3);
    event.set_message("it broke");
    const auto bytes = std::make_shared<const std::string>(api::to_storage(kind, event));
    page.items.push_back(api::object::encoded(kind, *bytes, i + 1, bytes));
  }
  return page;
}

response_format form_of(const std::string& accept, bool pretty = false) {
  auto form = negotiate(accept).value();
  form.pretty = pretty;
  return form;
}

const std::vector<std::string> forms{
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
};

// The text of a body that is made in parts.
std::string whole(body of) {
  auto rest = of.release_rest();
  auto text = of.text();
  while (rest) {
    body part;
    if (!rest(part)) rest = nullptr;
    text += part.text();
  }
  return text;
}

}  // namespace

TEST_CASE("a list is the same in one part and in many") {
  for (const auto& accept : forms) {
    for (const auto& page : {maps(0), maps(1), maps(300), events(300)}) {
      INFO(accept << ", " << page.items.size());
      const auto form = form_of(accept);
      body complete;
      CHECK_FALSE(list_body(form, page, included::metadata).add(complete, 100u << 20));
      list_body parts{form, page, included::metadata};
      std::string text;
      std::size_t largest = 0;
      for (bool more = true; more;) {
        body part;
        more = parts.add(part, 4'096);
        largest = std::max(largest, part.size_bytes());
        text += part.text();
      }
      CHECK(text == complete.text());
      CHECK(largest < 10'000);
    }
  }
}

TEST_CASE("a list for people is that of programs over many lines") {
  for (const std::string accept :
       {"application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"}) {
    for (const std::size_t count : {0u, 3u, 300u}) {
      INFO(accept << ", " << count);
      pretty_printer lines;
      std::string expected;
      lines.append(expected, list_answer(form_of(accept), maps(count)).content.text());
      CHECK(whole(list_answer(form_of(accept, true), maps(count)).content) == expected + "\n");
    }
  }
}

TEST_CASE("an encoded object has the same texts as a decoded one") {
  for (const auto& item : events(3).items) {
    const api::object decoded{item->kind(), item->copy(), item->revision()};
    const auto fresh = item->undecoded();
    CHECK(fresh->json() == decoded.json());
    CHECK(fresh->protobuf() == decoded.protobuf());
    CHECK(fresh->wire() == decoded.wire());
  }
}

TEST_CASE("a long list is answered in parts, a short one at once") {
  const auto form = form_of("application/json");
  CHECK_FALSE(list_answer(form, maps(1'000)).content.has_rest());
  auto answer = list_answer(form, maps(8'000));
  CHECK(answer.content.has_rest());
  CHECK(answer.content.size_bytes() < 5u << 20);
  auto rest = answer.content.release_rest();
  for (bool more = true; more;) {
    body part;
    more = rest(part);
    CHECK(part.size_bytes() < 300u << 10);
  }
}

TEST_CASE("a HEAD of a long list has no body, and a list over HTTP/1.0 ends with its connection") {
  testing::rest_test server;
  for (int i = 0; i < 60; ++i)
    REQUIRE(server
                .post("/api/v1/namespaces/default/configmaps",
                      R"({"metadata":{"name":"m)" + std::to_string(i) + R"("},"data":{"text":")" +
                          std::string(100'000, 'x') + "\"}}")
                .status == 201);
  const std::string path = "/api/v1/namespaces/default/configmaps";
  const auto complete = server.get(path).text();
  CHECK(complete.size() > 6'000'000);
  test::http_client client{server.where()};
  client.send_request("HEAD", path);
  CHECK(client.receive_answer(false).status == 200);
  CHECK(client.get("/version").status != 0);  // it continues at once
  test::wire old{server.where()};
  REQUIRE(old.send("GET " + path + " HTTP/1.0\r\n\r\n"));
  std::string all;
  for (std::string part; !(part = old.receive(1u << 20)).empty();)
    all += part;
  CHECK(old.ended());
  CHECK(all.ends_with(complete));
}
