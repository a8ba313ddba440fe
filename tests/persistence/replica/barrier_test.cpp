// How barriers ask the log for its newest revision.
#include <catch2/catch.hpp>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {
namespace {

// Counts the requests for the newest revision, and uses the store in each.
class counting_log final : public forwarding_log {
 public:
  explicit counting_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}

  void newest(std::function<void(expected<revision>)> done) override {
    ++requests;
    if (used != nullptr) static_cast<void>(used->stats());
    log().newest(std::move(done));
  }

  int requests = 0;
  const store* used = nullptr;
};

}  // namespace

TEST_CASE(
    "a barrier asks the log at once and without a lock, and later ones share the next request",
    "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  auto made = std::make_unique<counting_log>(std::move(model));
  auto& log = *made;
  const auto store =
      std::move(replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                                       std::move(made), "model", "a")
                    .value());
  steps.run();
  log.used = store.get();
  log.requests = 0;
  int passed = 0;
  const auto wait = [&] {
    store->barrier([&](const expected<revision>& reached) { passed += reached ? 1 : 0; });
  };
  wait();
  CHECK(log.requests == 1);
  wait();
  wait();
  CHECK(log.requests == 1);
  CHECK(passed == 0);
  steps.run();
  CHECK(log.requests == 2);
  CHECK(passed == 3);
  log.used = nullptr;
}

}  // namespace troupe::persistence::testing
