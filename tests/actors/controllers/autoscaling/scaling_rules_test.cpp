// The limits of an autoscaler's changes.
#include <catch2/catch.hpp>
#include <random>

#include "actors/controllers/autoscaling/autoscaler_plan.hpp"
#include "autoscaling_fixture.hpp"

namespace troupe::test {

using actors::autoscaling::limit_scaling;
using actors::autoscaling::note_scaled;
using actors::autoscaling::plan_scaling;
using actors::autoscaling::scaling_history;
using actors::autoscaling::scaling_verdict;
using actors::autoscaling::target_view;
using api::autoscaling::v2::HorizontalPodAutoscalerSpec;
using api::autoscaling::v2::HPAScalingRules;
using std::chrono::seconds;

namespace {

void add_policy(HPAScalingRules& rules, const char* type, int value, int period) {
  auto& policy = *rules.add_policies();
  policy.set_type(type);
  policy.set_value(value);
  policy.set_period_seconds(period);
}

// An autoscaler over time, whose desired counts are applied.
struct course {
  explicit course(HorizontalPodAutoscalerSpec spec) : spec{std::move(spec)} {}

  scaling_verdict step(int desired, seconds later = seconds{15}) {
    now += later;
    const auto made = limit_scaling(
        spec, {current, desired, spec.min_replicas(), spec.max_replicas()}, history, now);
    note_scaled(spec, history, current, made.replicas, now);
    current = made.replicas;
    return made;
  }

  HorizontalPodAutoscalerSpec spec;
  scaling_history history;
  runtime::time_point now{seconds{100'000}};
  int current = 1;
};

HorizontalPodAutoscalerSpec between(int least, int greatest) {
  HorizontalPodAutoscalerSpec spec;
  spec.set_min_replicas(least);
  spec.set_max_replicas(greatest);
  return spec;
}

}  // namespace

TEST_CASE("without a behavior a step up goes to twice the pods, or to four", "[autoscaling]") {
  course c{between(1, 100)};
  const auto first = c.step(50);
  CHECK(first.replicas == 4);
  CHECK(first.limited);
  CHECK(first.limit.reason == "ScaleUpLimit");
  CHECK(c.step(50).replicas == 8);
  CHECK(c.step(200).replicas == 16);
  c.current = 90;
  const auto most = c.step(200);
  CHECK(most.replicas == 100);
  CHECK(most.limit.reason == "TooManyReplicas");
}

TEST_CASE("without a behavior a step down waits for five minutes", "[autoscaling]") {
  course c{between(2, 100)};
  c.current = 4;
  c.step(4);
  const auto held = c.step(1, seconds{299});
  CHECK(held.replicas == 4);
  CHECK(held.able.reason == "ScaleDownStabilized");
  const auto down = c.step(1, seconds{2});
  CHECK(down.replicas == 2);
  CHECK(down.limit.reason == "TooFewReplicas");
}

TEST_CASE("policies limit a step by the change within their period", "[autoscaling]") {
  auto spec = between(1, 1000);
  auto& behavior = *spec.mutable_behavior();
  behavior.mutable_scale_up()->set_stabilization_window_seconds(0);
  add_policy(*behavior.mutable_scale_up(), "Pods", 4, 60);
  add_policy(*behavior.mutable_scale_up(), "Percent", 100, 60);
  behavior.mutable_scale_down()->set_stabilization_window_seconds(0);
  add_policy(*behavior.mutable_scale_down(), "Pods", 3, 60);
  course c{spec};
  c.current = 10;
  CHECK(c.step(100).replicas == 20);
  CHECK(c.step(100).replicas == 20);
  CHECK(c.step(100).limit.reason == "ScaleUpLimit");
  CHECK(c.step(100, seconds{60}).replicas == 40);
  c.now += seconds{60};
  CHECK(c.step(1).replicas == 37);
  CHECK(c.step(1).limit.reason == "ScaleDownLimit");
  CHECK(c.step(1, seconds{60}).replicas == 34);

  c.spec.mutable_behavior()->mutable_scale_up()->set_select_policy("Min");
  c.now += seconds{60};
  CHECK(c.step(100).replicas == 38);
  c.spec.mutable_behavior()->mutable_scale_down()->set_select_policy("Disabled");
  c.now += seconds{60};
  CHECK(c.step(1).replicas == 38);
}

TEST_CASE("a window on the way up takes the lowest recommendation", "[autoscaling]") {
  auto spec = between(1, 100);
  auto& behavior = *spec.mutable_behavior();
  behavior.mutable_scale_up()->set_stabilization_window_seconds(60);
  add_policy(*behavior.mutable_scale_up(), "Percent", 1000, 15);
  add_policy(*behavior.mutable_scale_down(), "Percent", 100, 15);
  course c{spec};
  c.current = 5;
  c.step(5);
  const auto held = c.step(9);
  CHECK(held.replicas == 5);
  CHECK(held.able.reason == "ScaleUpStabilized");
  c.step(8);
  c.step(9);
  CHECK(c.step(9).replicas == 8);
}

TEST_CASE("an autoscaler stays within its bounds and policies for any recommendation",
          "[autoscaling]") {
  std::mt19937_64 random{7};
  const auto number = [&](int least, int greatest) {
    return std::uniform_int_distribution<int>{least, greatest}(random);
  };
  for (int run = 0; run < 200; ++run) {
    const int least = number(1, 20);
    auto spec = between(least, least + number(0, 200));
    auto& up = *spec.mutable_behavior()->mutable_scale_up();
    auto& down = *spec.mutable_behavior()->mutable_scale_down();
    const int up_pods = number(1, 10), down_pods = number(1, 10), period = number(1, 300);
    add_policy(up, "Pods", up_pods, period);
    add_policy(down, "Pods", down_pods, period);
    up.set_stabilization_window_seconds(number(0, 300));
    down.set_stabilization_window_seconds(number(0, 300));
    course c{spec};
    c.current = number(spec.min_replicas(), spec.max_replicas());
    std::vector<std::pair<runtime::time_point, int>> changes;
    for (int i = 0; i < 100; ++i) {
      const int before = c.current;
      c.step(number(0, 300), seconds{number(1, 30)});
      CHECK(c.current >= spec.min_replicas());
      CHECK(c.current <= spec.max_replicas());
      changes.emplace_back(c.now, c.current - before);
      int sum = 0;
      for (const auto& [at, change] : changes)
        if (at > c.now - seconds{period}) sum += change;
      // Counted from the start of the period, and checked at each change: pods removed at its start
      // may be replaced.
      if (c.current > before) CHECK(sum <= up_pods);
      if (c.current < before) CHECK(sum >= -down_pods);
    }
  }
}

TEST_CASE("an autoscaler on a constant load comes to rest and stays", "[autoscaling]") {
  std::mt19937_64 random{11};
  const auto number = [&](int least, int greatest) {
    return std::uniform_int_distribution<int>{least, greatest}(random);
  };
  for (int run = 0; run < 300; ++run) {
    auto autoscaler = autoscaler_of_web(number(10, 100));
    autoscaler.mutable_spec()->set_max_replicas(200);
    const int load = number(1, 10'000);  // thousandths of a processor, shared by all pods
    scaling_history history;
    int current = number(1, 200), turns = 0, direction = 0, last_change = 0;
    for (int look = 0; look < 200; ++look) {
      target_view target;
      target.scale.mutable_spec()->set_replicas(current);
      target.scale.mutable_status()->set_replicas(current);
      target.scale.mutable_status()->set_selector("app=web");
      for (int pod = 0; pod < current; ++pod)
        target.pods.push_back(measured_pod_of("p" + std::to_string(pod), load / current));
      const auto plan = plan_scaling(
          autoscaler, target, history,
          {runtime::time_point{seconds{15 * look}}, runtime::wall_time{seconds{some_time}}});
      if (!plan.rescale_to) continue;
      const int now_direction = *plan.rescale_to > current ? 1 : -1;
      turns += direction != 0 && direction != now_direction;
      direction = now_direction;
      last_change = look;
      current = *plan.rescale_to;
    }
    INFO("load " << load << ", run " << run);
    CHECK(turns <= 1);
    CHECK(last_change < 100);
  }
}

}  // namespace troupe::test
