// How a control plane sees the terms of others begin and end.
#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"
#include "persistence/replica/model_plane.hpp"

namespace troupe::persistence::testing {
namespace {

void run_for(model_plane& leader, const std::string& node) {
  leader.store->campaign({.node = node, .lease = std::chrono::seconds{10}}, [](revision) {});
  leader.log->run();
}

void end_lease_of_leader(model_cluster& cluster) {
  cluster.end(cluster.lease_of(std::string{leader_key}));
}

}  // namespace

TEST_CASE("the ends of terms are counted by their reasons", "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  model_plane one{cluster, "a", {}}, other{cluster, "b", {}}, third{cluster, "c", {}};
  const auto seen = [&] {
    other.log->run();
    return *other.store->stats().leader;
  };
  run_for(one, "a");
  auto now = seen();
  CHECK(now.node == "a");
  CHECK(now.changes == 1);
  CHECK(now.ends.resigned + now.ends.expired + now.ends.unseen == 0);

  end_lease_of_leader(cluster);
  now = seen();
  CHECK(now.node.empty());
  CHECK(now.ends.expired == 1);
  CHECK(now.reason == "a was silent longer than its lease");

  one.log->run();
  one.log->fire_slow();
  one.log->run();
  CHECK(seen().node == "a");
  one.store->resign([] {});
  one.log->run();
  now = seen();
  CHECK(now.ends.resigned == 1);
  CHECK(now.reason == "a gave it up");

  run_for(third, "c");
  CHECK(seen().node == "c");
  other.log->stall_steps();
  end_lease_of_leader(cluster);
  cluster.compact(cluster.newest());
  other.log->resume_steps();
  now = seen();
  CHECK(now.node.empty());
  CHECK(now.changes == 3);
  CHECK(now.ends.resigned == 1);
  CHECK(now.ends.expired == 1);
  CHECK(now.ends.unseen == 1);
  CHECK(now.reason == "the end of the term of c was not seen here");
}

TEST_CASE("a control plane that starts with a copy knows who leads, and leads after that one",
          "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  model_plane one{cluster, "a", {}};
  run_for(one, "a");
  must(one.commit(just(put("x", "1"))));
  const auto disk = std::make_shared<memory_disk>();
  { const model_plane early{cluster, "b", {}, disk}; }
  model_plane other{cluster, "b", {}, disk};
  CHECK(other.store->stats().leader->node == "a");

  revision fence = 0;
  other.store->campaign({.node = "b", .lease = std::chrono::seconds{10}},
                        [&](revision now) { fence = now; });
  other.log->run();
  CHECK(fence == 0);
  SECTION("when it resigns") {
    one.store->resign([] {});
    one.log->run();
  }
  SECTION("when its lease ends") {
    end_lease_of_leader(cluster);
  }
  other.log->run();
  CHECK(fence != 0);
  CHECK(other.store->stats().leader->node == "b");
}

}  // namespace troupe::persistence::testing
