// The cost of server-side apply and field tracking, step by step: api_test "[.bench][apply]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "api/apply/field_managers.hpp"
#include "api/apply/managers.hpp"
#include "api/codec/codec.hpp"
#include "api/object/object.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"

namespace troupe::api {
namespace {

constexpr int rounds = 5'000;

template <class F>
void measure(const char* title, F step) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i)
    step(i);
  const auto took = std::chrono::steady_clock::now() - start;
  WARN(fmt::format(
      "{}: {:.1f} us", title,
      std::chrono::duration<double, std::micro>(took).count() / static_cast<double>(rounds)));
}

std::string deployment_json(int note) {
  return fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"d0",
"namespace":"default","labels":{{"app":"web","tier":"front"}},"annotations":{{"note":"n{}"}}}},
"spec":{{"replicas":0,"selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{
"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"nginx:1",
"ports":[{{"containerPort":80}}],"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"2"}}],
"resources":{{"limits":{{"cpu":"1","memory":"64Mi"}}}}}}]}}}}}}}})",
                     note);
}

}  // namespace

TEST_CASE("the cost of a server-side apply of a deployment", "[.bench][apply]") {
  const auto& kind = kind_of<apps::v1::Deployment>();
  const auto first = deployment_json(0);
  auto read = decode(first, media::json, &kind, {});
  REQUIRE(read);
  set_defaults(kind, *read->content);
  const auto json_of = [&](const body& content) {
    return encode_json(content, kind.api_version(), kind.kind());
  };
  const field_manager by{.name = "bench", .now_seconds = 1'700'000'000};
  auto made = apply_fields(kind, {}, json_of(*read->content), by);
  REQUIRE(made);
  auto live_object = decode(made->json, media::json, &kind, {});
  REQUIRE(live_object);
  *meta_of(*live_object->content).mutable_managed_fields() = made->managed;
  const auto live = json_of(*live_object->content);
  WARN(fmt::format("the object: {} bytes of JSON, {} with its managed fields",
                   json_of(*read->content).size(), live.size()));

  measure("decode of what was sent",
          [&](int i) { REQUIRE(decode(deployment_json(i), media::json, &kind, {})); });
  measure("encode", [&](int) { REQUIRE(!json_of(*read->content).empty()); });
  const auto written = json_of(*read->content);
  measure("the stored form",
          [&](int i) { REQUIRE(!in_stored_form(kind, deployment_json(i), written).empty()); });
  measure("apply without a change", [&](int) {
    const auto done = apply_fields(kind, live, made->managed, written, by);
    REQUIRE(done);
  });
  auto changed = written;
  changed.replace(changed.find("\"n0\""), 4, "\"n1\"");
  measure("apply of one changed field", [&](int) {
    const auto done = apply_fields(kind, live, made->managed, changed, by);
    REQUIRE((done && !done->unchanged));
  });
  // The additional cost of tracking for a create.
  measure("the owner of all that is there",
          [&](int) { REQUIRE(before_first_apply(kind, json_of(*read->content), 1).size() == 1); });
  std::size_t entry_bytes = 0;
  for (const auto& each : before_first_apply(kind, written, 1))
    entry_bytes += each.ByteSizeLong();
  WARN(fmt::format("its entry: {} bytes, the object {} as protobuf", entry_bytes,
                   read->content->ByteSizeLong()));
}

}  // namespace troupe::api
