#include "actors/watch/watcher.hpp"

#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "actors/core_fixture.hpp"
#include "persistence/format/record.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::test {

using actors::bookmark_now;
using actors::more;
using actors::subscribe;
using actors::unsubscribe;
using lines = std::vector<std::string>;

namespace {

constexpr const char* all = "/registry/configmaps/";

core_fixture_options tiny_window() {
  core_fixture_options options;
  options.watcher.window_changes = 2;
  options.watcher.log_part_changes = 3;
  return options;
}

// The watcher's description of its state.
std::string description(core_fixture& d) {
  std::string text;
  d.simulation.system().request<runtime::description>(
      d.watcher, runtime::describe{}, std::chrono::seconds{1},
      [&](auto reply) { text = reply ? (*reply)->text : "no answer"; });
  d.simulation.settle();
  return text;
}

}  // namespace

TEST_CASE("a subscriber from revision 0 gets the present state, then every change") {
  core_fixture d{1};
  const auto a = d.put("default", "a");
  const auto b = d.put("other", "b");
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  REQUIRE(s.heard->messages.size() == 1);
  CHECK(s.heard->messages[0].synced);
  CHECK(s.heard->messages[0].up_to == b);

  const auto changed = d.put("default", "a", true, 1);
  const auto gone = d.remove("default", "a");
  d.simulation.settle();
  CHECK(s.heard->lines() == lines{fmt::format("ADDED a@{}", a), fmt::format("ADDED b@{}", b),
                                  fmt::format("MODIFIED a@{}", changed),
                                  fmt::format("DELETED a@{}", gone)});
  CHECK(s.heard->events()[0].previous == nullptr);
  CHECK(s.heard->events()[2].previous->revision() == a);
}

TEST_CASE("the initial state carries the cause of each object's write while that is in memory") {
  core_fixture d{1, tiny_window()};
  for (int i = 0; i < 4; ++i) {
    d.request = 10 + static_cast<std::uint64_t>(i);
    d.put("default", fmt::format("c{}", i));
  }
  d.simulation.settle();
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  std::vector<std::uint64_t> requests;
  for (const auto& event : s.heard->events())
    requests.push_back(event.cause.request);
  CHECK(requests == std::vector<std::uint64_t>{0, 0, 12, 13});
}

TEST_CASE("unused revisions are not treated as a lost batch") {
  core_fixture_options elsewhere;
  elsewhere.far = true;
  core_fixture d{1, elsewhere};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  persistence::revision last = 0, writes = 30;
  for (persistence::revision i = 0; i < writes; ++i)
    last = d.put("default", fmt::format("c{}", i));
  d.simulation.settle();
  CHECK(last > 1 + writes);
  CHECK(s.heard->events().size() >= writes);
  CHECK_THAT(description(d), Catch::Contains("logReads: 0"));
}

TEST_CASE("an empty present state is announced as complete") {
  core_fixture d{1};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  REQUIRE(s.heard->messages.size() == 1);
  CHECK(s.heard->messages[0].synced);
  CHECK(s.heard->messages[0].events.empty());
}

TEST_CASE("a watch of one key or one namespace sees nothing else") {
  core_fixture d{1};
  subscriber one{d, "one"}, ns{d, "space"};
  one.say(subscribe{.id = 1, .prefix = core_fixture::key("default", "a")});
  ns.say(subscribe{.id = 1, .prefix = "/registry/configmaps/other/"});
  const auto a = d.put("default", "a");
  d.put("default", "ab");
  const auto b = d.put("other", "a");
  d.simulation.settle();
  CHECK(one.heard->lines() == lines{fmt::format("ADDED a@{}", a)});
  CHECK(ns.heard->lines() == lines{fmt::format("ADDED a@{}", b)});
}

TEST_CASE("a change is shown only to the streams of its key, its namespace and its resource") {
  core_fixture d{1};
  subscriber one{d, "one"}, ns{d, "space"}, everything{d, "everything"}, others{d, "others"};
  one.say(subscribe{.id = 1, .prefix = core_fixture::key("default", "a")});
  ns.say(subscribe{.id = 1, .prefix = std::string{all} + "default/"});
  everything.say(subscribe{.id = 1, .prefix = "/registry/"});
  for (std::uint64_t i = 1; i <= 300; i += 3) {
    others.say(subscribe{.id = i, .prefix = core_fixture::key("default", fmt::format("b{}", i))});
    others.say(subscribe{.id = i + 1, .prefix = fmt::format("{}other-{}/", all, i)});
    others.say(subscribe{.id = i + 2, .prefix = all, .on_node = fmt::format("node-{}", i)});
  }
  const lines expected{fmt::format("ADDED a@{}", d.put("default", "a"))};
  d.simulation.settle();
  CHECK(one.heard->lines() == expected);
  CHECK(ns.heard->lines() == expected);
  CHECK(everything.heard->lines() == expected);
  CHECK(others.heard->lines().empty());
  CHECK_THAT(description(d), Catch::Contains("offers: 3\n"));

  // Each ended stream is removed from its list, and no empty list remains.
  for (std::uint64_t i = 1; i <= 300; ++i)
    others.say(unsubscribe{i});
  one.say(unsubscribe{1});
  d.put("default", "a", true, 2);
  d.simulation.settle();
  CHECK_THAT(description(d),
             Catch::Contains("streams: {all: 2,") && Catch::Contains("offers: 5\n"));
}

TEST_CASE("a watch resumes from the window and, from further back, from the log") {
  core_fixture d{1, tiny_window()};
  lines expected;
  const auto from = d.put("default", "a");
  for (int i = 1; i <= 20; ++i) {
    expected.push_back(fmt::format("MODIFIED a@{}", d.put("default", "a", true, i)));
  }
  d.simulation.settle();
  subscriber near{d, "near"}, far{d, "far"};
  near.say(subscribe{.id = 1, .prefix = all, .after = from + 19});
  far.say(subscribe{.id = 1, .prefix = all, .after = from});
  CHECK(near.heard->lines() == lines{expected.back()});
  CHECK(far.heard->lines() == expected);
  CHECK(far.heard->messages.front().synced);

  const auto next = fmt::format("MODIFIED a@{}", d.put("default", "a", true, 99));
  d.simulation.settle();
  CHECK(near.heard->lines().back() == next);
  CHECK(far.heard->lines().back() == next);
}

TEST_CASE("changes leave the window after a minute, and are still delivered") {
  core_fixture d{1};
  const auto from = d.put("default", "a");
  d.put("default", "a", true, 1);
  d.simulation.advance(actors::defaults::window_time / 2);
  const auto young = d.put("default", "a", true, 2);
  d.simulation.settle();
  CHECK_THAT(description(d), Catch::Contains(fmt::format("from: {}, changes: 3,", from - 1)));
  d.simulation.advance(actors::defaults::window_time / 2 + 2 * actors::defaults::watcher_round);
  CHECK_THAT(description(d), Catch::Contains(fmt::format("from: {}, changes: 1,", from + 1)));
  d.simulation.advance(actors::defaults::window_time);
  CHECK_THAT(description(d), Catch::Contains(fmt::format("from: {}, changes: 0, bytes: 0", young)));

  subscriber late{d, "late"};
  late.say(subscribe{.id = 1, .prefix = all, .after = from});
  CHECK(late.heard->lines() ==
        lines{fmt::format("MODIFIED a@{}", from + 1), fmt::format("MODIFIED a@{}", young)});
  d.put("default", "a", true, 3);
  d.simulation.settle();
  CHECK(late.heard->lines().size() == 3);
}

TEST_CASE("a watch from a compacted revision ends with that error") {
  core_fixture d{1, tiny_window()};
  const auto from = d.put("default", "a");
  for (int i = 1; i <= 20; ++i)
    d.put("default", "a", true, i);
  REQUIRE(d.store->compact(from + 10));
  d.simulation.settle();
  subscriber late{d, "late"}, edge{d, "edge"};
  late.say(subscribe{.id = 1, .prefix = all, .after = from + 9});
  edge.say(subscribe{.id = 1, .prefix = all, .after = from + 10});
  REQUIRE(late.heard->ended.size() == 1);
  CHECK(late.heard->ended[0].reason.code == persistence::errc::compacted);
  CHECK(late.heard->messages.empty());
  CHECK(edge.heard->events().size() == 10);
}

TEST_CASE("a watch from history that cannot be read ends as if it were compacted") {
  core_fixture d{1, tiny_window()};
  const auto from = d.put("default", "a");
  for (int i = 1; i <= 20; ++i)
    d.put("default", "a", true, i);
  auto& rows = d.disk->tables[static_cast<std::size_t>(persistence::table::changes)];
  rows[persistence::change_key({from + 5, 0})] = "\xff";
  subscriber hit{d, "hit"}, past{d, "past"};
  hit.say(subscribe{.id = 1, .prefix = all, .after = from});
  past.say(subscribe{.id = 1, .prefix = all, .after = from + 6});
  REQUIRE(hit.heard->ended.size() == 1);
  CHECK(hit.heard->ended[0].reason.code == persistence::errc::compacted);
  CHECK_THAT(hit.heard->ended[0].reason.message,
             Catch::Contains(fmt::format("revision {}", from + 5)));
  CHECK(past.heard->events().size() == 14);
}

TEST_CASE("a deletion right after the compacted revision is delivered") {
  core_fixture d{1, tiny_window()};
  d.put("default", "a");
  const auto before = d.put("default", "b");
  const auto gone = d.remove("default", "a");
  for (int i = 1; i <= 5; ++i)
    d.put("default", "b", false, i);
  REQUIRE(d.store->compact(before));
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all, .accept = shown, .after = before});
  REQUIRE_FALSE(s.heard->events().empty());
  CHECK(s.heard->lines().front() == fmt::format("DELETED a@{}", gone));
  CHECK(shown(*s.heard->events().front().object));
}

TEST_CASE("a watch from a revision that has not come waits and sends nothing older") {
  core_fixture d{1};
  const auto now = d.put("default", "a");
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all, .after = now + 2, .bookmarks = true});
  d.put("default", "a", true, 1);
  d.put("default", "a", true, 2);
  const auto seen = d.put("default", "a", true, 3);
  d.simulation.settle();
  CHECK(s.heard->lines() == lines{fmt::format("MODIFIED a@{}", seen)});
}

TEST_CASE("a subscriber without credit gets nothing, and all of it later, in order") {
  core_fixture d{1, tiny_window()};
  subscriber slow{d, "slow"}, quick{d, "quick"};
  slow.say(subscribe{.id = 1, .prefix = all, .credit = 3});
  quick.say(subscribe{.id = 1, .prefix = all});
  for (int i = 0; i < 50; ++i)
    d.put("default", "a", true, i);
  d.simulation.settle();
  CHECK(slow.heard->events().size() == 3);
  CHECK(quick.heard->events().size() == 50);
  for (int i = 0; i < 47; ++i)
    slow.say(more{1, 1});
  CHECK(slow.heard->lines() == quick.heard->lines());
}

TEST_CASE("the present state is handed out under credit") {
  core_fixture d{1};
  for (int i = 0; i < 10; ++i)
    d.put("default", fmt::format("c{}", i));
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all, .credit = 4});
  CHECK(s.heard->events().size() == 4);
  CHECK_FALSE(s.heard->messages.back().synced);
  CHECK(s.heard->messages.back().up_to == 0);
  // An object deleted meanwhile existed at the revision of the state; its deletion follows.
  const auto gone = d.remove("default", "c9");
  s.say(more{1, 100});
  CHECK(s.heard->lines()[9].starts_with("ADDED c9"));
  CHECK(s.heard->lines()[10] == fmt::format("DELETED c9@{}", gone));
  CHECK(s.heard->messages.back().synced);
}

TEST_CASE("a subscriber that does not take the present state in time is ended") {
  core_fixture d{1};
  for (int i = 0; i < 10; ++i)
    d.put("default", fmt::format("c{}", i));
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all, .credit = 4});
  d.simulation.advance(actors::defaults::initial_state_limit + std::chrono::seconds{2});
  REQUIRE(s.heard->ended.size() == 1);
  CHECK(s.heard->ended[0].reason.code == persistence::errc::overloaded);
}

TEST_CASE("all events of one revision come in one message") {
  core_fixture d{1};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all, .credit = 2});
  std::vector<std::pair<std::string, std::unique_ptr<api::body>>> three;
  for (const char* name : {"a", "b", "c"}) {
    three.emplace_back(core_fixture::key("default", name),
                       core_fixture::config("default", name, true, 0));
  }
  d.write(std::move(three));
  d.simulation.settle();
  REQUIRE(s.heard->messages.size() == 2);
  CHECK(s.heard->messages[1].events.size() == 3);
  d.put("default", "a", true, 1);
  d.simulation.settle();
  CHECK(s.heard->messages.size() == 2);
}

TEST_CASE("bookmarks come each minute, when asked for, and never before older events") {
  core_fixture d{1};
  subscriber with{d, "with"}, without{d, "without"};
  with.say(subscribe{.id = 1, .prefix = all, .credit = 3, .bookmarks = true});
  without.say(subscribe{.id = 1, .prefix = "/registry/secrets/"});
  const auto at = d.put("default", "a");
  d.simulation.advance(actors::defaults::bookmark_period);
  CHECK(with.heard->lines() ==
        lines{fmt::format("ADDED a@{}", at), fmt::format("BOOKMARK @{}", at)});
  CHECK(with.heard->messages.back().up_to == at);
  without.say(bookmark_now{1});
  CHECK(without.heard->lines() == lines{fmt::format("BOOKMARK @{}", at)});
  // One event of credit is left: the second change must wait, and so must the bookmark.
  d.put("default", "a", true, 1);
  d.put("default", "a", true, 2);
  with.say(bookmark_now{1});
  CHECK(with.heard->lines().back() == fmt::format("MODIFIED a@{}", at + 1));
}

TEST_CASE("nothing is sent after an unsubscription, which may come twice") {
  core_fixture d{1};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  s.say(unsubscribe{1});
  s.say(unsubscribe{1});
  d.put("default", "a");
  d.simulation.settle();
  CHECK(s.heard->events().empty());
  s.say(more{1, 1});
  REQUIRE(s.heard->ended.size() == 1);
}

TEST_CASE("a second subscription of the same id replaces the first") {
  core_fixture d{1};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  s.say(subscribe{.id = 1, .prefix = "/registry/secrets/"});
  d.put("default", "a");
  d.simulation.settle();
  CHECK(s.heard->events().empty());
}

TEST_CASE("a subscriber that has ended is dropped") {
  core_fixture d{1};
  subscriber idle{d, "idle"}, busy{d, "busy"};
  idle.say(subscribe{.id = 1, .prefix = "/registry/secrets/"});
  busy.say(subscribe{.id = 1, .prefix = all});
  const auto streams = [&] { return description(d); };
  CHECK(streams().find("streams: {all: 2") != std::string::npos);
  d.simulation.system().stop(busy.ref);
  d.simulation.settle();
  d.put("default", "a");
  d.simulation.settle();
  CHECK(streams().find("streams: {all: 1") != std::string::npos);
  d.simulation.system().stop(idle.ref);
  d.simulation.advance(actors::defaults::bookmark_period);
  CHECK(streams().find("streams: {all: 0") != std::string::npos);
}

TEST_CASE("batches that never reached the watcher are found in the log") {
  core_fixture d{1, tiny_window()};
  subscriber s{d, "s"};
  s.say(subscribe{.id = 1, .prefix = all});
  lines expected;
  d.lose_batches = true;
  for (int i = 0; i < 9; ++i) {
    expected.push_back(
        fmt::format("{} a@{}", i == 0 ? "ADDED" : "MODIFIED", d.put("default", "a", true, i)));
  }
  SECTION("when the next batch shows the gap") {
    d.lose_batches = false;
    expected.push_back(fmt::format("MODIFIED a@{}", d.put("default", "a", true, 9)));
    d.simulation.settle();
  }
  SECTION("or soon after, when no other batch comes") {
    d.simulation.advance(3 * actors::defaults::watcher_round);
  }
  CHECK(s.heard->lines() == expected);
}

}  // namespace troupe::test
