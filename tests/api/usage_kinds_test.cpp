// Usage of nodes and pods as documents: a duration is a string in JSON and a message in
// protobuf.
#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/object/object.hpp"
#include "api/schema/metrics_v1beta1.pb.h"
#include "api/scheme.hpp"
#include "api/tables/table.hpp"

using namespace troupe::api;
using metrics::v1beta1::NodeMetrics;
using metrics::v1beta1::PodMetrics;

namespace {

const std::string node_text =
    R"({"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"n"},)"
    R"("timestamp":"2026-11-24T12:00:00Z","window":"15.5s",)"
    R"("usage":{"cpu":"1234567n","memory":"2Mi"}})";

template <class T>
object_ptr read(std::string_view text) {
  auto decoded = decode(text, media::json, &kind_of<T>());
  INFO((decoded ? std::string{} : decoded.error().message));
  REQUIRE(decoded);
  return std::make_shared<const object>(kind_of<T>(), std::move(decoded->content), 0);
}

std::string cells_of(const object_ptr& of) {
  std::string text;
  append_table(text, of->kind(), std::vector<object_ptr>{of}, {});
  json_document table;
  REQUIRE(parse_json(table, text, "table"));
  return write_json(table["rows"][0]["cells"]);
}

}  // namespace

TEST_CASE("metrics survive JSON and protobuf, with their length of time in the form of each") {
  const auto node = read<NodeMetrics>(node_text);
  CHECK(node->json() == node_text);
  CHECK(node->as<NodeMetrics>().window().duration() == 15'500'000'000);
  const auto again = decode(node->protobuf(), media::protobuf, &kind_of<NodeMetrics>());
  REQUIRE(again);
  CHECK(static_cast<const NodeMetrics&>(*again->content).window().duration() == 15'500'000'000);
  const auto empty = read<NodeMetrics>("{}");
  CHECK(empty->json() ==
        R"({"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},)"
        R"("timestamp":null,"window":"0s","usage":{}})");
  for (const std::string wrong :
       {R"({"window":"soon"})", R"({"window":15})", R"({"window":{}})", R"({"window":["1s"]})"}) {
    INFO(wrong);
    CHECK_FALSE(decode(wrong, media::json, &kind_of<NodeMetrics>()));
  }
}

TEST_CASE("a row of metrics has the sums of a pod's containers") {
  CHECK(cells_of(read<NodeMetrics>(node_text)) == R"(["n","1234567n","2Mi","15.5s"])");
  CHECK(cells_of(read<PodMetrics>(R"({"metadata":{"name":"p"},"window":"10s","containers":[)"
                                  R"({"name":"a","usage":{"cpu":"250m","memory":"1Mi"}},)"
                                  R"({"name":"b","usage":{"cpu":"1","memory":"512Ki"}}]})")) ==
        R"(["p","1250m","1536Ki","10s"])");
  CHECK(cells_of(read<PodMetrics>(R"({"metadata":{"name":"p"}})")) == R"(["p","0","0","0s"])");
}
