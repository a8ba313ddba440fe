// The reads of one autoscaler's sync beside many others: actors_test "[.bench][autoscaling]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "actors/controllers/autoscaling/scale_target.hpp"
#include "api/schema/apps_v1.pb.h"
#include "autoscaling_fixture.hpp"
#include "support/cluster.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

namespace {

constexpr int autoscalers = 1'000;
constexpr int pods_of_each = 10;
constexpr int looks = 20;

void label_as(api::meta::v1::ObjectMeta& meta, const std::string& name) {
  (*meta.mutable_labels())["app"] = name;
}

}  // namespace

TEST_CASE("one reconciliation beside a thousand autoscalers of a namespace",
          "[.bench][autoscaling]") {
  using namespace actors::autoscaling;
  cluster c{1};
  for (int i = 0; i < autoscalers; ++i) {
    const auto name = fmt::format("web-{}", i);
    auto target = deployment(name, pods_of_each, "web:1");
    target.mutable_spec()->mutable_selector()->mutable_match_labels()->clear();
    (*target.mutable_spec()->mutable_selector()->mutable_match_labels())["app"] = name;
    label_as(*target.mutable_spec()->mutable_template_()->mutable_metadata(), name);
    c.create(target);
    auto autoscaler = autoscaler_of_web(50);
    autoscaler.mutable_metadata()->set_name(name);
    autoscaler.mutable_spec()->mutable_scale_target_ref()->set_name(name);
    c.create(autoscaler);
    for (int p = 0; p < pods_of_each; ++p) {
      auto pod = pod_named(fmt::format("{}-{}", name, p));
      label_as(*pod.mutable_metadata(), name);
      c.create(pod);
    }
  }
  const auto state = c.store().read();
  const auto& own = c.get<api::autoscaling::v2::HorizontalPodAutoscaler>("default", "web-500");
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::nanoseconds for_pods{0};
  for (int i = 0; i < looks; ++i) {
    const auto target = find_target(state, own);
    REQUIRE(target);
    const auto before = std::chrono::steady_clock::now();
    const auto pods = pods_of(state, "default", target->scale);
    for_pods += std::chrono::steady_clock::now() - before;
    REQUIRE(pods.size() == pods_of_each);
    REQUIRE(autoscalers_of(state, "default", pods) == std::vector<std::string>{"web-500"});
  }
  const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double, std::milli> pods = for_pods;
  fmt::print("a look among {} autoscalers and {} pods: {:.2f} ms, of it pods {:.2f} ms\n",
             autoscalers, autoscalers * pods_of_each, all.count() / looks, pods.count() / looks);
}

}  // namespace troupe::test
