// How barriers ask the log for its newest revision.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {
namespace {

using namespace std::chrono_literals;

constexpr int many_failures = 100;

// Counts the requests for the newest revision, and uses the store in each. Records the pauses of
// less than a second.
class counting_log final : public forwarding_log {
 public:
  explicit counting_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}

  void newest(std::function<void(expected<revision>)> done) override {
    ++requests;
    if (used != nullptr) static_cast<void>(used->stats());
    if (failures == 0) return log().newest(std::move(done));
    --failures;
    log().call_later({}, [this, done = std::move(done)] { done(fail(reason)); });
  }
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override {
    if (delay > 0ms && delay < 1s) pauses.push_back(delay);
    log().call_later(delay, std::move(work));
  }

  int requests = 0;
  const store* used = nullptr;
  int failures = 0;  // the number of requests that fail for `reason`
  error reason{errc::unknown, "a member was killed"};
  std::vector<std::chrono::milliseconds> pauses;
};

// A store over it that has caught up, and the answers to its barriers.
struct asking_plane {
  explicit asking_plane(log_limits limits = {}) {
    auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
    steps = model.get();
    auto made = std::make_unique<counting_log>(std::move(model));
    log = made.get();
    store = std::move(replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                                             std::move(made), "model", "a", limits)
                          .value());
    steps->run();
    log->requests = 0;
    log->pauses.clear();
  }

  void wait() {
    store->barrier([this](const expected<revision>& reached) { told.push_back(reached); });
  }

  const captured_log quiet;
  model_cluster cluster;
  std::vector<expected<revision>> told;
  model_log* steps = nullptr;
  counting_log* log = nullptr;
  std::unique_ptr<replicated_store> store;
};

}  // namespace

TEST_CASE(
    "a barrier asks the log at once and without a lock, and later ones share the next request",
    "[replica]") {
  asking_plane one;
  auto& log = *one.log;
  log.used = one.store.get();
  one.wait();
  CHECK(log.requests == 1);
  one.wait();
  one.wait();
  CHECK(log.requests == 1);
  CHECK(one.told.empty());
  one.steps->run();
  CHECK(log.requests == 2);
  CHECK(one.told.size() == 3);
  CHECK(std::all_of(one.told.begin(), one.told.end(), [](const auto& each) { return !!each; }));
  log.used = nullptr;
}

TEST_CASE("a barrier asks again, after growing pauses, when a member of the log does not answer",
          "[replica]") {
  asking_plane one;
  auto& log = *one.log;
  log.failures = 7;
  one.wait();
  one.steps->step();
  CHECK(log.requests == 1);
  one.wait();  // joins the next request
  CHECK(log.requests == 1);
  one.steps->run();
  CHECK(log.requests == 8);
  CHECK(log.pauses ==
        std::vector<std::chrono::milliseconds>{50ms, 100ms, 200ms, 400ms, 800ms, 800ms, 800ms});
  REQUIRE(one.told.size() == 2);
  CHECK(one.told[0]);
  CHECK(one.told[1]);

  // The next failure is another one.
  log.pauses.clear();
  log.failures = 1;
  one.wait();
  one.steps->run();
  CHECK(log.pauses == std::vector<std::chrono::milliseconds>{50ms});
  CHECK(one.told.size() == 3);
}

TEST_CASE("a barrier that the log refuses fails at once", "[replica]") {
  asking_plane one;
  one.log->failures = 1;
  one.log->reason = {errc::read_only, "permission denied"};
  one.wait();
  one.steps->run();
  CHECK(one.log->requests == 1);
  REQUIRE(one.told.size() == 1);
  CHECK(one.told[0].error().code == errc::read_only);
}

TEST_CASE("a barrier asks a log that does not answer until its time is over", "[replica]") {
  asking_plane one{{.answer = 0ms}};
  one.log->failures = many_failures;
  one.wait();
  for (int i = 0; i < many_failures / 4; ++i)
    one.steps->step();
  CHECK(one.told.empty());
  CHECK(one.log->requests > 2);
  one.steps->fire_slow();  // the store checks what is too old
  REQUIRE(one.told.size() == 1);
  CHECK(one.told[0].error().code == errc::unknown);
  one.steps->run();  // it does not ask any more
  CHECK(one.log->failures > 0);
}

}  // namespace troupe::persistence::testing
