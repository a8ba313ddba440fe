// The admission plugin of CONTRIBUTING.md, word for word: it must compile and work.
#include <catch2/catch.hpp>
#include <fstream>

#include "actors/write/admission_fixture.hpp"
#include "build_paths.hpp"

// -- the guide begins --
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

// Every pod says who pays for it; one of the system is paid for by the system.
class cost_center final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CostCenter"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<api::core::v1::Pod>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    if (of.ns() == "kube-system") (*api::meta_of(now).mutable_labels())["cost"] = "system";
    return {};
  }

  verdict validate(const attributes& of) const override {
    if (of.meta().labels().contains("cost")) return {};
    return api::fail(forbidden(of, "it needs the label cost"));
  }
};

}  // namespace

plugin_ptr make_cost_center() {
  return std::make_shared<cost_center>();
}

}  // namespace troupe::actors::admission
// -- the guide ends --

namespace troupe::test {

TEST_CASE("the admission plugin of the guide mutates and validates", "[admission]") {
  cluster c{1, without_controllers()};
  const admission_case by{actors::admission::make_cost_center(), c.store().read()};
  auto pod = web_pod();
  REQUIRE(by.mutate(pod));
  CHECK(by.validate(pod).error().message == "pods \"web\" is forbidden: it needs the label cost");
  pod.mutable_metadata()->set_namespace_("kube-system");
  REQUIRE(by.mutate(pod));
  CHECK(by.validate(pod));
}

TEST_CASE("the guide shows the very admission plugin that is compiled here", "[admission]") {
  const auto text_of = [](const std::string& path) {
    std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  const auto source = text_of("tests/actors/write/example_admission_test.cpp");
  const std::string begin = "// -- the guide begins --\n", end = "// -- the guide ends --\n";
  const auto from = source.find(begin) + begin.size();
  const auto plugin_text = source.substr(from, source.find(end, from) - from);
  CHECK(text_of("CONTRIBUTING.md").find(plugin_text) != std::string::npos);
}

}  // namespace troupe::test
