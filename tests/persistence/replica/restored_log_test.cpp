// A log that was restored from a backup keeps its identity: control planes notice it by its
// history.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/cluster_record.hpp"
#include "persistence/replica/model_plane.hpp"

namespace troupe::persistence::testing {
namespace {

transaction by_user(mutation request) {
  auto made = just(std::move(request));
  made.cause.author = "user";
  return made;
}

// A control plane with a disk, on a log whose revisions have a base.
struct disk_plane {
  model_log* log = nullptr;
  std::unique_ptr<replicated_store> store;

  disk_plane(model_cluster& cluster, const std::string& name, std::shared_ptr<memory_disk> disk,
             const cluster_record& record = {"cluster", "model", 0}) {
    auto made = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
    log = made.get();
    auto opened = replicated_store::open({}, memory_engine_on(std::move(disk)),
                                         std::make_unique<based_log>(std::move(made), record.base),
                                         record.identity(), name);
    REQUIRE(opened);
    store = std::move(*opened);
    log->run();
  }

  outcome commit(transaction request) {
    std::optional<outcome> told;
    store->submit(std::move(request), [&](const outcome& result) { told = result; });
    log->run();
    REQUIRE(told);
    return *told;
  }
  bool passes() {
    std::optional<expected<revision>> told;
    store->barrier([&](const expected<revision>& reached) { told = reached; });
    log->run();
    REQUIRE(told);
    if (!*told) CHECK(told->error().code == errc::restored);
    return told->has_value();
  }
};

std::shared_ptr<memory_disk> new_disk() {
  return std::make_shared<memory_disk>();
}

}  // namespace

TEST_CASE("a running control plane does not go on with a log that was restored",
          "[replica][restored]") {
  captured_log log;
  model_cluster cluster;
  model_plane one{cluster, "a", {}};
  const auto kept = must(one.commit(just(put("kept", "1"))));
  // The last transaction that is lost.
  const auto lost = GENERATE(0, 1, 2);
  if (lost == 0) must(one.commit(just(remove("kept"))));
  if (lost == 1) must(one.commit(just(put("kept", "2"))));
  if (lost == 2)
    for (int i = 0; i < 30; ++i)
      must(one.commit(just(put(fmt::format("lost{}", i), "1"))));
  CAPTURE(lost);
  const auto newest = one.store->read().at();
  cluster.restore(kept);
  // With "passed", others have used the lost revisions before this one looks.
  const auto passed = GENERATE(false, true);
  CAPTURE(passed);
  while (passed && cluster.newest() <= newest + 3)
    cluster.execute({{},
                     {{key_of("other"), "x"},
                      {std::string{cause_key}, cause_text({{"b", 1}, {0, 0, "user"}, {}})}}});
  one.log->run();
  one.log->fire_slow();
  one.log->run();
  REQUIRE(one.store->refusal());
  CHECK(one.store->stats().read_only);
  const auto refused = one.commit(just(put("new", "1")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::restored);
  std::optional<expected<revision>> waiting;
  one.store->barrier([&](const expected<revision>& reached) { waiting = reached; });
  REQUIRE(waiting);
  CHECK(waiting->error().code == errc::restored);
  CHECK(one.store->read().at() == newest);
  CHECK_THAT(log.take(), Catch::Contains("was restored from a backup"));
}

TEST_CASE("a leader of a log that was restored does not lead any more", "[replica][restored]") {
  const captured_log quiet;
  model_cluster cluster;
  revision fence = 0;
  model_plane one{cluster, "a", {}};
  one.store->campaign({.node = "a", .lease = std::chrono::seconds{10}},
                      [&](revision now) { fence = now; });
  one.log->run();
  REQUIRE(fence != 0);
  const auto backup = cluster.newest();
  must(one.commit(just(put("lost", "1"))));
  cluster.restore(backup);
  one.log->run();
  CHECK(one.store->refusal());
  CHECK(fence == 0);
  // Its lease was in the backup too: it must not keep others from leading.
  one.log->fire_slow();
  one.log->run();
  CHECK_FALSE(cluster.find(std::string{leader_key}));
}

TEST_CASE("a control plane that starts recognises a restored log by its copy",
          "[replica][restored]") {
  const captured_log quiet;
  model_cluster cluster;
  const auto disk = new_disk();
  revision backup = 0, newest = 0;
  const bool removes = GENERATE(false, true);
  {
    disk_plane one{cluster, "a", disk};
    must(one.commit(by_user(put("kept", "1"))));
    backup = cluster.newest();
    newest = must(one.commit(by_user(removes ? remove("kept") : put("lost", "1"))));
  }
  SECTION("that is not restored") {
    disk_plane again{cluster, "a", disk};
    CHECK(again.passes());
  }
  SECTION("that has passed the revision of the copy") {
    cluster.restore(backup);
    // One without a copy cannot know, and gives the revision again.
    disk_plane other{cluster, "b", new_disk()};
    for (int i = 0; i < 5; ++i)
      must(other.commit(by_user(put(fmt::format("new{}", i), "1"))));
    REQUIRE(cluster.newest() > newest);
    disk_plane again{cluster, "a", disk};
    CHECK_FALSE(again.passes());
  }
  SECTION("that is behind the copy") {
    for (int i = 0; i < 5; ++i)
      must(disk_plane{cluster, "a", disk}.commit(by_user(put(fmt::format("lost{}", i), "1"))));
    cluster.restore(backup);
    disk_plane again{cluster, "a", disk};
    CHECK_FALSE(again.passes());
  }
  SECTION("that was compacted is read as a whole") {
    disk_plane other{cluster, "b", new_disk()};
    must(other.commit(by_user(put("new", "1"))));
    cluster.compact(cluster.newest());
    disk_plane again{cluster, "a", disk};
    CHECK(again.passes());
    CHECK(contents(again.store->read()) == contents(other.store->read()));
  }
}

TEST_CASE("control planes with the old base do not go on when another one has raised it",
          "[replica][restored]") {
  const captured_log quiet;
  model_cluster cluster;
  auto record = cluster_record{"cluster", "model", 0};
  disk_plane one{cluster, "a", new_disk(), record};
  must(one.commit(by_user(put("kept", "1"))));
  cluster.execute({{}, {{std::string{cluster_key}, cluster_text(record)}}});
  CHECK(one.passes());
  const auto old = record;
  record.base = defaults::restore_gap;
  cluster.execute({{}, {{std::string{cluster_key}, cluster_text(record)}}});
  CHECK_FALSE(one.passes());
  // One that has read the record before reads the state after.
  CHECK_FALSE(disk_plane(cluster, "b", new_disk(), old).passes());
  disk_plane next{cluster, "c", new_disk(), record};
  CHECK(next.passes());
  CHECK(next.store->read().at() > defaults::restore_gap);
}

TEST_CASE("the base is raised once by all whose copies are lost, and above all that they have seen",
          "[replica][restored]") {
  const captured_log quiet;
  constexpr auto gap = defaults::restore_gap;
  model_cluster cluster;
  model_log log{cluster, {}};
  blocking_log asked{log, "the model", std::chrono::seconds{60}};
  const auto first = *join_cluster(asked);
  CHECK(*join_cluster(asked, {first.identity(), false}) == first);
  const auto backup = cluster.newest();
  const auto next = *join_cluster(asked, {first.identity(), true});
  CHECK(next.base == gap);
  CHECK(*join_cluster(asked, {first.identity(), true}) == next);
  CHECK(*join_cluster(asked, {next.identity(), false}) == next);
  CHECK(*join_cluster(asked) == next);
  // The same backup again.
  cluster.restore(backup);
  REQUIRE(join_cluster(asked)->base == 0);
  CHECK(join_cluster(asked, {next.identity(), false})->base == 2 * gap);
  // A copy of another log says nothing about this one.
  cluster.restore(backup);
  CHECK(join_cluster(asked, {fmt::format("other+{}", 5 * gap), true})->base == 0);
}

}  // namespace troupe::persistence::testing
