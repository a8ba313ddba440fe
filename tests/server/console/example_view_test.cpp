// The view of CONTRIBUTING.md, word for word: it must compile and work.
#include <catch2/catch.hpp>
#include <fstream>

#include "build_paths.hpp"
#include "server/console/views/sampler.hpp"
#include "server/fixtures/console_fixture.hpp"

// -- the guide begins --
#include <map>

#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "server/console/views/views.hpp"

namespace troupe::server {

using api::core::v1::Pod;

// How many pods there are in each phase: of a namespace, or of all.
view_result show_phases(const console_context& context, const query_string& query) {
  std::map<std::string, std::size_t> pods;
  const auto place = api::kind_of<Pod>().prefix(query.get_or("namespace", ""));
  context.store().read().scan(place, {}, [&](std::string_view, const api::object_ptr& found) {
    ++pods[found->as<Pod>().status().phase()];
    return true;
  });
  json_writer out;
  out.begin_array();
  for (const auto& [phase, count] : pods)
    out.begin_object().member("phase", phase).member("pods", count).end_object();
  out.end_array();
  return view_answer{out, pods.size()};
}

}  // namespace troupe::server
// -- the guide ends --

namespace troupe::server::testing {

TEST_CASE("the view of the guide counts the pods of each phase") {
  console_test t;
  t.create_controller("web", 3);
  sampler samples{t.system(), &t.plane().store(), nullptr};
  request_log requests;
  const console_context context{t.system(), &t.plane(), "here", requests, samples, nullptr};
  const auto shown = show_phases(context, query_string{"namespace=default"});
  REQUIRE(shown);
  CHECK(shown->json == R"([{"phase":"Pending","pods":3}])");
  CHECK(shown->total == std::size_t{1});
  CHECK(show_phases(context, query_string{"namespace=empty"})->json == "[]");
}

TEST_CASE("the guide shows the very view that is compiled here") {
  const auto text_of = [](const std::string& path) {
    std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  const auto source = text_of("tests/server/console/example_view_test.cpp");
  const std::string begin = "// -- the guide begins --\n", end = "// -- the guide ends --\n";
  const auto from = source.find(begin) + begin.size();
  const auto view_text = source.substr(from, source.find(end, from) - from);
  CHECK(text_of("CONTRIBUTING.md").find(view_text) != std::string::npos);
}

}  // namespace troupe::server::testing
