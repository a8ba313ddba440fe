// The plugin of CONTRIBUTING.md, word for word: it must compile and work.
#include <catch2/catch.hpp>
#include <fstream>

#include "actors/scheduler/algorithm.hpp"
#include "build_paths.hpp"
#include "builders.hpp"

// -- the guide begins --
#include "actors/scheduler/profile.hpp"
#include "actors/scheduler/registry.hpp"

namespace {

using namespace troupe::actors::scheduler;

// Keeps pods with label "class: batch" off nodes with label "quiet", and likes empty nodes.
class quiet_nodes : public plugin, public filter_plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "QuietNodes"; }
  std::uint32_t helped_by() const noexcept override { return node_added | node_labels_changed; }

  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto& labels = pod.body().metadata().labels();
    const auto found = labels.find("class");
    const bool batch = found != labels.end() && found->second == "batch";
    if (!batch || !node.labels().contains("quiet")) return {};
    return {status_code::unresolvable, "node(s) wanted quiet"};
  }

  std::int64_t score(const cycle&, const pod_info&, const node_info& node) const override {
    return node.pods().empty() ? max_score : 0;
  }
};

const registration registered{"QuietNodes", make_plugin<quiet_nodes>};

}  // namespace
// -- the guide ends --

namespace troupe::actors::scheduler {

TEST_CASE("the plugin of the guide filters and scores", "[scheduler]") {
  auto options = *built_in_profile("today");
  options.plugins.push_back({"QuietNodes", 5});
  const auto with = profile::make(options);
  REQUIRE(with);
  algorithm chooser{**with};
  cluster_view view;
  std::mt19937_64 random{1};
  view.put_node(make_node("silent", "{quiet: \"yes\"}"));
  const auto refused = chooser.schedule(make_pod("b", "{}", "{class: batch}"), view, random);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("1 node(s) wanted quiet"));
  CHECK(chooser.schedule(make_pod("p"), view, random) == "silent");
  view.put_node(make_node("empty"));
  view.put_pod(make_pod("q"), "silent");
  for (int i = 0; i < 10; ++i)
    CHECK(chooser.schedule(make_pod("p"), view, random) == "empty");
}

TEST_CASE("the guide shows the very text that is compiled here", "[scheduler]") {
  const auto text_of = [](const std::string& path) {
    std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  const auto source = text_of("tests/actors/scheduler/example_plugin_test.cpp");
  const std::string begin = "// -- the guide begins --\n", end = "// -- the guide ends --\n";
  const auto from = source.find(begin) + begin.size();
  const auto plugin_text = source.substr(from, source.find(end, from) - from);
  CHECK(text_of("CONTRIBUTING.md").find(plugin_text) != std::string::npos);
}

}  // namespace troupe::actors::scheduler
