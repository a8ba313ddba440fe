// Pods on simulated nodes that behave according to their annotations.
#include "actors/kubelet/simulated/pod_behavior.hpp"

#include <catch2/catch.hpp>

#include "actors/controllers/jobs/jobs_fixture.hpp"
#include "actors/core/condition.hpp"

namespace troupe::test {

using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

Pod behaving(const std::map<std::string, std::string>& how, const std::string& restart_policy) {
  auto pod = pod_named("p");
  pod.mutable_spec()->set_restart_policy(restart_policy);
  for (const auto& [key, value] : how)
    (*pod.mutable_metadata()->mutable_annotations())["simulation.troupe.dev/" + key] = value;
  return pod;
}

api::core::v1::PodStatus status(const cluster& c) {
  return c.get<Pod>("default", "p").status();
}

bool is_ready(const cluster& c) {
  const auto all = status(c).conditions();
  const auto* ready = actors::find_condition(all, "Ready");
  return ready != nullptr && ready->status() == "True";
}

}  // namespace

TEST_CASE("a simulated pod starts late, becomes ready late and ends", "[simulated]") {
  cluster c{1};
  simulated_nodes nodes{c, 1};
  c.create(behaving({{"start-delay", "10s"},
                     {"ready-delay", "10s"},
                     {"run-time", "60s"},
                     {"exit-code", "3"},
                     {"termination-message", "no more work"}},
                    "Never"));
  c.advance(seconds{8});
  CHECK(status(c).phase() == "Pending");
  c.advance(seconds{6});
  CHECK(status(c).phase() == "Running");
  CHECK_FALSE(is_ready(c));
  c.advance(seconds{12});
  CHECK(is_ready(c));
  c.advance(seconds{60});
  CHECK(status(c).phase() == "Failed");
  const auto ended = status(c).container_statuses(0).state().terminated();
  CHECK(ended.exit_code() == 3);
  CHECK(ended.message() == "no more work");
}

TEST_CASE("a simulated pod that crashes is started again, more and more slowly", "[simulated]") {
  cluster c{1};
  simulated_nodes nodes{c, 1};
  c.create(behaving({{"run-time", "1s"}, {"exit-code", "1"}, {"failures", "2"}}, "OnFailure"));
  REQUIRE(c.run_until(
      [&] {
        const auto now = status(c);
        return now.container_statuses_size() > 0 &&
               now.container_statuses(0).state().waiting().reason() == "CrashLoopBackOff" &&
               now.container_statuses(0).restart_count() == 1;
      },
      seconds{30}));
  CHECK_FALSE(is_ready(c));
  REQUIRE(c.run_until([&] { return status(c).phase() == "Succeeded"; }, seconds{60}));
  CHECK(status(c).container_statuses(0).restart_count() == 2);
}

TEST_CASE("a simulated pod without annotations has no behaviour", "[simulated]") {
  CHECK_FALSE(actors::behavior_of(pod_named("p")));
  const auto odd = actors::behavior_of(
      behaving({{"run-time", "soon"}, {"start-delay", "1s"}, {"jitter", "-1"}}, "Always"));
  REQUIRE(odd);
  CHECK_FALSE(odd->run_time);
  CHECK(odd->start_delay.jitter == 0);
}

}  // namespace troupe::test
