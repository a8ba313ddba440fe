// When the log of several control planes is compacted, and the contents of its leader key.
#include "persistence/replica/log_compaction.hpp"

#include <catch2/catch.hpp>

#include "persistence/model_log.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence::testing {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 300s;
const log_compaction::time_point start{};

struct compacted_log {
  model_cluster cluster;
  model_log log{cluster, {.threaded = false}};
  log_compaction compaction{log, interval};

  void write(int times) {
    for (int i = 0; i < times; ++i)
      cluster.execute({{}, {{"a", std::to_string(i)}}});
  }
  void check(std::chrono::seconds after, bool leads = true) {
    compaction.check(start + after, cluster.newest(), leads);
    while (log.step()) {
    }
  }
  bool has_steps_after(revision at) const { return cluster.steps(at, 1).has_value(); }
};

}  // namespace

TEST_CASE("a leader compacts revisions older than one interval, and nothing newer", "[replica]") {
  compacted_log it;
  it.write(10);
  const auto past = it.cluster.newest();
  it.check(0s);
  it.write(10);
  it.check(interval - 1s);
  CHECK(it.has_steps_after(1));
  it.check(interval);
  CHECK_FALSE(it.has_steps_after(past - 1));
  CHECK(it.has_steps_after(past));
  it.write(1);
  it.check(2 * interval);
  CHECK_FALSE(it.has_steps_after(past));
  CHECK(it.has_steps_after(it.cluster.newest() - 1));
}

TEST_CASE("an interval begins again where a term ends, and none is 0", "[replica]") {
  compacted_log it;
  it.write(10);
  it.check(0s);
  it.check(interval / 2, false);
  it.check(interval);
  it.write(1);
  it.check(2 * interval - 1s);
  CHECK(it.has_steps_after(1));
  it.check(2 * interval);
  CHECK_FALSE(it.has_steps_after(1));

  log_compaction never{it.log, 0s};
  for (int i = 1; i < 5; ++i)
    never.check(start + i * interval, 1 + static_cast<revision>(i), true);
  CHECK_FALSE(it.log.step());
}

TEST_CASE("the leader's key holds its name and start time, and foreign text is tolerated",
          "[replica]") {
  const leader_record one{7, "node-1", "0011aabb", std::chrono::system_clock::time_point{5ms}};
  const auto read = read_leader(7, leader_text(one));
  CHECK(read.term == 7);
  CHECK(read.node == one.node);
  CHECK(read.candidate == one.candidate);
  CHECK(read.since == one.since);
  for (const auto* text : {"", " ", "node", "node 12", "node id 12x", "node id ", "  12"}) {
    CAPTURE(text);
    CHECK(read_leader(3, text).term == 3);
    CHECK(read_leader(3, text).candidate.empty());
  }
}

TEST_CASE("an expired lease of a leader is distinguished from a resignation", "[replica]") {
  const std::string key{leader_key};
  const auto ended = read(log_step{9, {{key, std::nullopt, 0}}});
  REQUIRE(ended);
  REQUIRE(ended->leader);
  CHECK(ended->leader->term == 0);
  CHECK(ended->leader->ended == term_end::expired);
  const cause_record cause{{"m", 0}, {}, {}};
  const auto given =
      read(log_step{9, {{key, std::nullopt, 0}, {std::string{cause_key}, cause_text(cause), 1}}});
  REQUIRE(given);
  REQUIRE(given->leader);
  CHECK(given->leader->ended == term_end::resigned);
}

}  // namespace troupe::persistence::testing
