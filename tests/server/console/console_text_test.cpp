// The console's pure functions: globs, names, texts, differences.
#include <catch2/catch.hpp>

#include "api/object/object.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "server/console/context/context.hpp"
#include "server/console/output/rendering.hpp"
#include "server/console/views/differences.hpp"

using namespace troupe::server;

TEST_CASE("globs match as in a shell, a word without wildcards anywhere") {
  CHECK(matches_glob("pod/default/web-1", "pod/*"));
  CHECK(matches_glob("pod/default/web-1", "*web-?"));
  CHECK(matches_glob("pod/default/web-1", "web"));
  CHECK(matches_glob("aaab", "*a?"));
  CHECK(matches_glob("", "*"));
  CHECK(matches_glob("anything", ""));
  CHECK_FALSE(matches_glob("pod/default/web-1", "web*"));
  CHECK_FALSE(matches_glob("ab", "a?b"));
  CHECK_FALSE(matches_glob("ab", "??c"));
}

TEST_CASE("objects are named as people do") {
  CHECK(parse_object_name("pods/default/web")->key() == "/registry/pods/default/web");
  CHECK(parse_object_name("po/web")->key() == "/registry/pods/default/web");
  CHECK(parse_object_name("Pod/kube-system/web")->ns == "kube-system");
  CHECK(parse_object_name("node/n1")->key() == "/registry/nodes/n1");
  CHECK(parse_object_name("node/n1")->text() == "nodes/n1");
  CHECK(parse_object_name("replicasets.apps/a/b")->name == "b");
  CHECK_FALSE(parse_object_name("pods"));
  CHECK_FALSE(parse_object_name("pods/"));
  CHECK_FALSE(parse_object_name("pods/a/"));
  CHECK_FALSE(parse_object_name("pods/a/b/c"));
  CHECK_FALSE(parse_object_name("dragons/a/b"));
}

TEST_CASE("times are written for people") {
  CHECK(human_time(0) == "0");
  CHECK(human_time(0.00000025) == "250ns");
  CHECK(human_time(0.0000125) == "12.5us");
  CHECK(human_time(0.25) == "250ms");
  CHECK(human_time(1.5) == "1.5s");
  CHECK(human_time(75) == "1m15s");
  CHECK(human_time(7'320) == "2h2m");
  CHECK(human_time(200'000) == "2d7h");
}

TEST_CASE("an array of objects is a table, an object a list of facts") {
  CHECK(render(R"([{"name":"a","ageSeconds":1.5},{"name":"long one","ageSeconds":0}])",
               rendering::text) ==
        "NAME      AGE\n"
        "a         1.5s\n"
        "long one  0\n");
  CHECK(render(R"({"lastError":"","sizeBytes":2048,"on":true,"rows":[{"x":1}],"log":"a\nb\n"})",
               rendering::text) ==
        "LAST-ERROR  -\n"
        "SIZE        2.0KiB\n"
        "ON          yes\n"
        "\nROWS\n  X\n  1\n"
        "\nLOG\n  a\n  b\n");
  CHECK(render("[]", rendering::text) == "nothing\n");
}

TEST_CASE("YAML holds the same values") {
  CHECK(render(R"({"a":"x: y","n":1,"list":[{"b":null,"c":[1,2]},{}],"t":"l1\nl2\n","e":[]})",
               rendering::yaml) ==
        "a: \"x: y\"\n"
        "n: 1\n"
        "list:\n"
        "- b: null\n"
        "  c:\n"
        "  - 1\n"
        "  - 2\n"
        "- {}\n"
        "t: |\n"
        "  l1\n"
        "  l2\n"
        "e: []\n");
}

TEST_CASE("values that are nested very deep are compared as a whole") {
  using troupe::api::apps::v1::ControllerRevision;
  const auto revision = [](const std::string& bottom) {
    auto made = std::make_unique<ControllerRevision>();
    made->mutable_metadata()->set_name("a");
    made->mutable_data()->set_raw("{\"x\":" + std::string(2'000, '[') + bottom +
                                  std::string(2'000, ']') + "}");
    return troupe::api::object{troupe::api::kind_of<ControllerRevision>(), std::move(made), 1};
  };
  const auto before = revision("1"), after = revision("2");
  const auto found = differences(&before, &after, 10);
  REQUIRE(found.size() == 1);
  CHECK(found.front().path.starts_with("data.x[0][0]"));
  CHECK(found.front().path.size() < 300);
}
