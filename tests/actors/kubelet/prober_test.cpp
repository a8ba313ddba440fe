// A container's probes in a simulation: the test drives the clock and answers the probes.
#include "actors/kubelet/health/prober.hpp"

#include <catch2/catch.hpp>
#include <deque>

#include "actors/core/messages.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/simulation.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using api::core::v1::Pod;

namespace {

struct heard {
  std::vector<std::string> verdicts;  // "Liveness failure"
  std::vector<std::string> events;
};

// Plays the pod's worker and the recorder.
class listener : public runtime::actor {
 public:
  explicit listener(std::shared_ptr<heard> into) : into_{std::move(into)} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&listener::on_news, &listener::on_event);
    return table;
  }

 private:
  void on_news(const probe_event& m) {
    static constexpr const char* words[] = {"unknown", "success", "failure"};
    into_->verdicts.push_back(std::string{to_string(m.kind)} + " " +
                              words[static_cast<int>(m.result)]);
  }
  void on_event(const record_event& m) { into_->events.push_back(m.reason + ": " + m.message); }
  std::shared_ptr<heard> into_;
};

struct probed_container {
  explicit probed_container(const std::string& probes, bool started = false, bool ready = false) {
    auto decoded = api::decode("metadata: {name: p}\nspec:\n  containers:\n  - name: c\n" + probes,
                               api::media::yaml, &api::kind_of<Pod>());
    REQUIRE(decoded);
    const auto listens =
        world.system().spawn({.kind = "test", .name = "listener"}, runtime::make<listener>(said));
    prober_setup setup{
        .pod = std::make_shared<api::object>(api::kind_of<Pod>(), std::move(decoded->content), 1),
        .container = "c",
        .id = "process://u/c/0",
        .since_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        world.system().time().wall_now().time_since_epoch())
                        .count(),
        .memory = std::make_shared<probe_memory>(probe_memory{started, ready}),
        .pod_ip = "10.0.0.1",
        .node = "n",
        .run_check =
            [this](const auto&, const auto& check, auto, auto done) {
              const auto& port = std::get<tcp_socket_action>(check).port;
              asked.push_back(port);
              done({well[port] ? check_status::success : check_status::failure, "told", warns});
            },
        .worker = listens,
        .recorder = listens};
    prober = world.system().spawn({.kind = "prober", .name = "c"},
                                  runtime::make<actors::prober>(std::move(setup)));
    world.settle();
  }

  runtime::simulation world{1};
  std::shared_ptr<heard> said = std::make_shared<heard>();
  std::map<int, bool> well;  // by port
  std::vector<int> asked;
  bool warns = false;
  runtime::actor_ref prober;
};

using words = std::vector<std::string>;
constexpr const char* all_three = R"(
    startupProbe: {tcpSocket: {port: 1}, periodSeconds: 2, failureThreshold: 3}
    livenessProbe: {tcpSocket: {port: 2}, periodSeconds: 5, failureThreshold: 2}
    readinessProbe: {tcpSocket: {port: 3}, periodSeconds: 1, initialDelaySeconds: 7}
)";

}  // namespace

TEST_CASE("other probes wait for the startup probe", "[kubelet]") {
  probed_container c{all_three};
  c.world.advance(2s);
  CHECK(c.asked == std::vector<int>{1, 1});
  c.well = {{1, true}, {2, true}, {3, true}};
  c.world.advance(2s);
  CHECK(c.said->verdicts == words{"Startup success"});
  CHECK(c.asked == std::vector<int>{1, 1, 1, 2});
  c.world.advance(3s);
  CHECK(c.said->verdicts == words{"Startup success", "Readiness success"});
  // The startup probe is never run again.
  c.world.advance(60s);
  CHECK(std::count(c.asked.begin(), c.asked.end(), 1) == 3);
}

TEST_CASE("a container that does not start up is reported once", "[kubelet]") {
  probed_container c{all_three};
  c.world.advance(60s);
  CHECK(c.said->verdicts == words{"Startup failure"});
  CHECK(c.asked == std::vector<int>{1, 1, 1});
  CHECK(c.said->events == words(3, "Unhealthy: Startup probe failed: told"));
}

TEST_CASE("a liveness probe keeps to its period and threshold", "[kubelet]") {
  probed_container c{
      "    livenessProbe: {tcpSocket: {port: 2}, initialDelaySeconds: 3, periodSeconds: 5, "
      "failureThreshold: 2}\n"};
  c.well[2] = true;
  c.world.advance(2999ms);
  CHECK(c.asked.empty());
  c.world.advance(1ms);
  CHECK(c.asked.size() == 1);
  c.world.advance(10s);
  CHECK(c.asked.size() == 3);
  c.well[2] = false;
  c.world.advance(5s);
  CHECK(c.said->verdicts.empty());
  c.world.advance(5s);
  CHECK(c.said->verdicts == words{"Liveness failure"});
  c.world.advance(60s);
  CHECK(c.asked.size() == 5);
}

TEST_CASE("a container that was ready before the node began again stays ready", "[kubelet]") {
  probed_container c{all_three, true, true};
  c.prober.tell(repeat_results{});
  c.world.settle();
  CHECK(c.said->verdicts == words{"Startup success", "Liveness success", "Readiness success"});
}

TEST_CASE("a prober that crashed continues from the previous results of its probes", "[kubelet]") {
  probed_container c{all_three};
  c.well = {{1, true}, {2, true}, {3, true}};
  c.world.advance(20s);
  REQUIRE(c.said->verdicts == words{"Startup success", "Readiness success"});
  c.said->verdicts.clear();
  c.well[3] = false;
  c.world.system().kill(c.prober, "a test");
  c.asked.clear();
  c.world.advance(20s);
  // Its last result is revised as without a crash, and the startup probe is not repeated.
  CHECK(c.said->verdicts == words{"Readiness failure"});
  CHECK(std::count(c.asked.begin(), c.asked.end(), 1) == 0);
}

TEST_CASE("a probe that succeeds with a warning has an event, and counts as a success",
          "[kubelet]") {
  probed_container c{"    readinessProbe: {tcpSocket: {port: 3}, periodSeconds: 1}\n"};
  c.well[3] = c.warns = true;
  c.world.advance(1s);
  REQUIRE_FALSE(c.said->events.empty());
  CHECK(c.said->events.back() == "ProbeWarning: Readiness probe warning: told");
  CHECK(c.said->verdicts == words{"Readiness success"});
}

TEST_CASE("a probe of an unknown port reports it", "[kubelet]") {
  probed_container c{"    readinessProbe: {tcpSocket: {port: nowhere}}\n"};
  c.world.advance(1s);
  CHECK(c.said->events ==
        words{"Unhealthy: Readiness probe errored: container \"c\" has no port \"nowhere\""});
  CHECK(c.said->verdicts.empty());
}

}  // namespace troupe::actors
