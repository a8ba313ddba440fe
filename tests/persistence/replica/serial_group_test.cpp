// Transactions of one serial group, as those that a quota counts, through several control planes.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "persistence/fixture.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/model_plane.hpp"
#include "support/seeds.hpp"

namespace troupe::persistence::testing {
namespace {

constexpr std::uint64_t seeds = 200;

transaction grouped(const std::string& name, revision seen, std::string group = "quota") {
  auto made = only_if(0, put(name, "v"));
  made.group = {std::move(group), seen};
  return made;
}

// Creates objects while fewer than the limit are known here, as a quota's ledger does.
struct counting_client {
  static constexpr std::size_t limit = 20;
  model_plane plane;
  std::size_t reserved = 0, refused = 0;
  int created = 0;

  void try_create(const std::string& name) {
    const auto state = plane.store->read();
    if (state.size() + reserved >= limit) return;
    ++reserved;
    plane.store->submit(grouped(name, state.at()), [this](const outcome& result) {
      --reserved;
      created += result ? 1 : 0;
      refused += !result && result.error().code == errc::conflict ? 1 : 0;
    });
  }
};

}  // namespace

TEST_CASE("a transaction of a group fails if another control plane wrote to the group meanwhile",
          "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  model_plane one{cluster, "a", {}}, other{cluster, "b", {}};
  const auto seen = one.store->read().at();
  const auto first = must(one.commit(grouped("a1", seen)));
  // Its own transactions are known to the author of both.
  must(one.commit(grouped("a2", seen)));
  must(other.commit(grouped("b1", seen, "another")));
  const auto refused = other.commit(grouped("b2", seen));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::conflict);
  CHECK(refused.error().key.starts_with(group_prefix));
  // The answer comes when the conflicting state is known here.
  CHECK(other.store->read().at() > first);
  must(other.commit(grouped("b2", other.store->read().at())));
  // A control plane that was not known before.
  model_plane third{cluster, "c", {}};
  must(third.commit(grouped("c1", third.store->read().at())));
  CHECK_FALSE(one.commit(grouped("a3", first)));
}

TEST_CASE("a sum that several control planes add to stays below its limit", "[replica][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    std::mt19937_64 random{seed};
    std::vector<std::unique_ptr<counting_client>> clients;
    for (int i = 0; i < 3; ++i)
      clients.push_back(std::make_unique<counting_client>(
          counting_client{{cluster,
                           "s" + std::to_string(i),
                           {.seed = seed * 3 + std::uint64_t(i), .lost = 0.05, .cut = 0.05}}}));
    int names = 0;
    for (int i = 0; i < 400; ++i) {
      auto& chosen = *clients[random() % clients.size()];
      if (random() % 2 == 0) chosen.try_create(fmt::format("o{}", names++));
      chosen.plane.log->step();
    }
    // Whoever is alone succeeds.
    for (int i = 0; i < 40; ++i)
      for (auto& each : clients) {
        each->plane.log->run();
        each->try_create(fmt::format("o{}", names++));
        each->plane.log->run();
      }
    for (auto& each : clients)
      each->plane.log->run();
    for (auto& each : clients)
      CHECK(each->plane.store->read().size() == counting_client::limit);
  });
}

TEST_CASE("a group is compared over a log whose revisions are moved", "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  const auto open = [&](const std::string& name, model_log*& log) {
    auto made = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
    log = made.get();
    auto store =
        replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                               std::make_unique<based_log>(std::move(made), 1'000), "model", name);
    REQUIRE(store);
    log->run();
    return std::move(*store);
  };
  model_log *one_log = nullptr, *other_log = nullptr;
  const auto one = open("a", one_log), other = open("b", other_log);
  std::vector<outcome> told;
  const auto submit = [&](replicated_store& to, model_log& log, transaction request) {
    to.submit(std::move(request), [&](const outcome& result) { told.push_back(result); });
    log.run();
  };
  const auto seen = other->read().at();
  submit(*one, *one_log, grouped("a", seen));
  submit(*other, *other_log, grouped("b", seen));
  submit(*other, *other_log, grouped("c", other->read().at()));
  REQUIRE(told.size() == 3);
  CHECK(told[0]);
  CHECK_FALSE(told[1]);
  CHECK(told[2]);
}

}  // namespace troupe::persistence::testing
