// The pauses between the attempts of a control plane to raise its session, to lead, and to renew
// its lease.
#include <catch2/catch.hpp>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/election.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {
namespace {

using namespace std::chrono_literals;

constexpr int many_steps = 100;

// A log that does not answer while it is told so, and records the pauses of less than a second.
class failing_log final : public forwarding_log {
 public:
  explicit failing_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}

  void submit(log_transaction request, std::function<void(log_answer)> done) override {
    if (!fails) return log().submit(std::move(request), std::move(done));
    log().call_later({}, [done = std::move(done)] { done({}); });
  }
  void renew(lease_id lease, std::chrono::milliseconds limit,
             std::function<void(expected<std::chrono::seconds>)> done) override {
    limits.push_back(limit);
    if (failed_renewals == 0) return log().renew(lease, limit, std::move(done));
    --failed_renewals;
    log().call_later({}, [done = std::move(done)] { done(fail(errc::unknown, "it is paused")); });
  }
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override {
    if (delay > 0ms && delay < 1s) pauses.push_back(delay);
    log().call_later(delay, std::move(work));
  }

  bool fails = true;
  int failed_renewals = 0;
  std::vector<std::chrono::milliseconds> pauses, limits;
};

void check_growing(std::vector<std::chrono::milliseconds> pauses) {
  REQUIRE(pauses.size() > 6);
  pauses.resize(6);
  CHECK(pauses == std::vector<std::chrono::milliseconds>{50ms, 100ms, 200ms, 400ms, 800ms, 800ms});
}

}  // namespace

TEST_CASE("a session that cannot be raised is tried again after growing pauses", "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  auto made = std::make_unique<failing_log>(std::move(model));
  auto& log = *made;
  const auto store =
      std::move(replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                                       std::move(made), "model", "a")
                    .value());
  const auto fail_for_long = [&] {
    log.fails = true;
    log.pauses.clear();
    for (int i = 0; i < many_steps; ++i)
      steps.step();
    check_growing(log.pauses);
    log.fails = false;
    steps.run();
  };
  fail_for_long();
  // A transaction with unknown outcome raises the session again.
  log.fails = true;
  std::optional<outcome> told;
  store->submit(just(put("a", "1")), [&](const outcome& result) { told = result; });
  fail_for_long();
  REQUIRE(told);
  CHECK(*told);
}

TEST_CASE("a candidate whose key a full log refuses tries again after growing pauses",
          "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  failing_log log{std::move(model)};
  log.fails = false;
  cluster.full(true);
  election candidate{log, "one", 10s, [](revision) {}};
  candidate.begin({});
  for (int i = 0; i < many_steps; ++i)
    steps.step();
  check_growing(log.pauses);
  CHECK_FALSE(cluster.find(std::string{leader_key}));
  cluster.full(false);
  steps.run();
  CHECK(cluster.find(std::string{leader_key}));
}

TEST_CASE("a leader whose lease is not renewed in time asks again at once, and still leads",
          "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  failing_log log{std::move(model)};
  log.fails = false;
  std::vector<revision> fences;
  election leader{log, "one", 10s, [&](revision fence) { fences.push_back(fence); }};
  leader.begin({});
  steps.run();
  const auto key = cluster.find(std::string{leader_key});
  REQUIRE(key);
  leader.on_leader(read_leader(key->created, key->value));
  log.pauses.clear();
  log.failed_renewals = 3;
  steps.fire_slow();
  steps.run();
  CHECK(log.limits == std::vector<std::chrono::milliseconds>(4, 2'500ms));
  CHECK(log.pauses == std::vector<std::chrono::milliseconds>{50ms, 100ms, 200ms});
  CHECK(fences == std::vector{key->created});
}

TEST_CASE("a short lease is renewed three times in its time to live, and not more", "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  failing_log log{std::move(model)};
  log.fails = false;
  election candidate{log, "one", 2s, [](revision) {}};
  candidate.begin({});
  for (int i = 0; i < many_steps; ++i)
    steps.step();
  REQUIRE(log.pauses.size() > 3);
  log.pauses.resize(3);
  CHECK(log.pauses == std::vector<std::chrono::milliseconds>(3, 666ms));
}

}  // namespace troupe::persistence::testing
