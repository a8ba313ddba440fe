// The change log: reads it back, with the state before each change, through compaction and
// restart.
#include <spdlog/fmt/fmt.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <thread>

#include "persistence/defaults.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/repair/verify.hpp"

namespace troupe::persistence::testing {
namespace {

using lines = std::vector<std::string>;

struct virtual_clock {
  std::shared_ptr<std::chrono::system_clock::time_point> now =
      std::make_shared<std::chrono::system_clock::time_point>(std::chrono::seconds{1'000'000});

  void advance(std::chrono::seconds by) const { *now += by; }
  std::function<std::chrono::system_clock::time_point()> reader() const {
    return [at = now] { return *at; };
  }
};

store_options inline_options(const virtual_clock& clock = {}) {
  store_options options;
  options.threaded = false;
  options.wall_clock = clock.reader();
  return options;
}

TEST_CASE("changes are read back in order, each with the state before it") {
  scratch_directory place;
  const lines wanted{"2 created a 1@2", "3 created b 1@3", "4 updated a 2@4 <- 1@2",
                     "5 removed a 2@5 <- 2@4", "6 created a 3@6"};
  const auto check = [&](const store& store) {
    CHECK(lines_of(*store.changes(1, 100)) == wanted);
    CHECK(lines_of(*store.changes(3, 2)) == lines{wanted[2], wanted[3]});
    CHECK(store.changes(6, 100)->empty());
    CHECK(store.changes(7, 100).error().code == errc::future_revision);
  };
  {
    const auto store = open(in_directory(place.path()));
    for (auto* m : {"a", "b"})
      must(commit(*store, just(put(m, "1"))));
    must(commit(*store, just(put("a", "2"))));
    must(commit(*store, just(remove("a"))));
    must(commit(*store, just(put("a", "3"))));
    check(*store);
  }
  check(*open(in_directory(place.path())));
}

TEST_CASE("an object that is still the newest is shared, not decoded again") {
  const auto store = open(inline_options());
  must(commit(*store, just(put("a", "1"))));
  must(commit(*store, just(put("a", "2"))));
  const auto found = store->changes(1, 10);
  CHECK(found->at(1).object == store->read().find(key_of("a")));
  CHECK(found->at(1).previous == found->at(0).object);
}

TEST_CASE("a transaction is never cut in two") {
  const auto store = open(inline_options());
  for (int i = 0; i < 5; ++i) {
    transaction three;
    for (const auto* name : {"a", "b", "c"})
      three.mutations.push_back(put(name, std::to_string(i)));
    must(commit(*store, std::move(three)));
  }
  for (std::size_t limit = 0; limit < 17; ++limit) {
    std::size_t seen = 0;
    for (revision after = 1; after < store->read().at();) {
      const auto part = store->changes(after, limit);
      REQUIRE(part);
      REQUIRE(part->size() % 3 == 0);
      CHECK(part->size() <= std::max<std::size_t>(limit + 2, 3));
      seen += part->size();
      after = part->back().at;
    }
    CHECK(seen == 15);
  }
}

TEST_CASE("history ends where it was compacted, and goes on from there") {
  const auto store = open(inline_options());
  must(commit(*store, just(put("a", "1"))));
  must(commit(*store, just(put("b", "1"))));
  must(commit(*store, just(remove("a"))));
  must(commit(*store, just(put("b", "2"))));
  REQUIRE(store->compact(3));
  CHECK(store->stats().compacted == 3);
  const auto gone = store->changes(2, 10);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == errc::compacted);
  CHECK_THAT(gone.error().message, Catch::Contains("begins after 3"));
  // A deletion directly after the compacted revision includes the last state.
  CHECK(lines_of(*store->changes(3, 10)) ==
        lines{"4 removed a 1@4 <- 1@2", "5 updated b 2@5 <- 1@3"});
  REQUIRE(store->compact(2));  // nothing left to do
  CHECK(store->compact(6).error().code == errc::future_revision);
  REQUIRE(store->compact(5));
  CHECK(store->changes(5, 10)->empty());
  must(commit(*store, just(put("b", "3"))));
  CHECK(lines_of(*store->changes(5, 10)) == lines{"6 updated b 3@6 <- 2@5"});
}

// One random run of a store: changes() must return the executed changes, with any compaction.
struct life {
  std::mt19937_64 random;
  std::function<std::unique_ptr<persistence::store>()> make;
  std::unique_ptr<persistence::store> store;
  std::map<revision, lines> done;
  std::map<std::string, std::pair<std::string, revision>> state;
  std::map<revision, lines> states = {};
  revision compacted = 0;

  void transact() {
    transaction request;
    std::map<std::string, std::string> chosen;  // a key at most once
    for (std::uint64_t i = 0; i <= random() % 3; ++i)
      chosen[std::to_string(random() % 6)] =
          random() % 3 == 0 ? "" : std::to_string(random() % 1000);
    for (const auto& [name, value] : chosen)
      request.mutations.push_back(value.empty() ? remove(name) : put(name, value));
    const auto at = must(commit(*store, std::move(request)));
    for (const auto& [name, value] : chosen) {
      const auto old = state.find(name);
      if (value.empty() && old == state.end()) continue;
      auto line = fmt::format("{} {} {} {}@{}", at,
                              value.empty()        ? "removed"
                              : old == state.end() ? "created"
                                                   : "updated",
                              name, value.empty() ? old->second.first : value, at);
      if (old != state.end())
        line += fmt::format(" <- {}@{}", old->second.first, old->second.second);
      done[at].push_back(line);
      if (value.empty())
        state.erase(old);
      else
        state[name] = {value, at};
    }
    states[at] = contents(store->read());
  }

  void check() {
    for (int i = 0; i < 3; ++i) {
      const revision after = compacted + random() % (store->read().at() - compacted + 1);
      lines wanted;
      for (auto at = done.upper_bound(after); at != done.end(); ++at)
        wanted.insert(wanted.end(), at->second.begin(), at->second.end());
      const auto found = store->changes(after, 100'000);
      REQUIRE(found);
      REQUIRE(lines_of(*found) == wanted);
      const auto earlier = states.lower_bound(after);
      if (earlier == states.end()) continue;
      const auto rebuilt = store->rebuild(earlier->first);
      REQUIRE(rebuilt);
      REQUIRE(contents(*rebuilt) == earlier->second);
    }
    if (compacted > 0) REQUIRE(store->changes(compacted - 1, 1).error().code == errc::compacted);
  }

  void live(int steps) {
    store = make();
    for (int i = 0; i < steps; ++i) {
      const auto dice = random() % 20;
      if (dice == 0) {
        compacted = std::max(compacted, random() % store->read().at() + 1);
        REQUIRE(store->compact(compacted));
      } else if (dice == 1) {
        store.reset();
        store = make();
      } else if (dice == 2) {
        check();
      } else {
        transact();
      }
    }
    check();
    store.reset();
  }
};

TEST_CASE("after any compactions and restarts the remaining history equals the changes made") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const auto disk = std::make_shared<memory_disk>();
    life one{std::mt19937_64{seed},
             [&] { return open(inline_options(), memory_engine_on(disk)); },
             {},
             {},
             {}};
    one.live(400);
    const auto found = verify(**memory_engine_on(disk)(open_mode::strict));
    REQUIRE(found->problems == lines{});
  }
  for (std::uint64_t seed = 100; seed <= 102; ++seed) {
    INFO("seed " << seed);
    scratch_directory place;
    auto options = inline_options();
    options.directory = place.path();
    life one{std::mt19937_64{seed}, [&] { return open(options); }, {}, {}, {}};
    one.live(120);
    REQUIRE(problems_in(place.path()) == lines{});
  }
}

TEST_CASE("rebuilt states are bounded in size and number") {
  const auto store = open(inline_options());
  must(commit(*store, just(put("pinned", "1"))));
  const auto pinned = store->read();
  store->pin(pinned);
  std::vector<revision> made;
  for (std::size_t i = 0; i < defaults::rebuilt_limit + 2; ++i)
    made.push_back(must(commit(*store, just(put("a", std::to_string(i))))));
  must(commit(*store, just(put("a", "last"))));
  for (const auto at : made) {
    REQUIRE(store->rebuild(at));
    store->pin(*store->read_at(at));  // as the next page of a list does
  }
  for (std::size_t i = 0; i < made.size(); ++i)
    CHECK(store->read_at(made[i]).has_value() == (i >= 2));
  CHECK(store->read_at(pinned.at()));

  const std::string large(1u << 20, 'x');
  const auto write = [&](const std::string& value) {
    for (std::size_t i = 0; i <= defaults::rebuild_bytes / large.size(); ++i)
      must(commit(*store, just(put(std::to_string(i), value))));
  };
  write(large);
  const auto before = store->read().at();
  write("small");
  CHECK(store->rebuild(before).error().code == errc::compacted);
  CHECK(store->rebuild(before + 2));  // two large objects less
}

TEST_CASE("history is cut by number and age: both must allow it") {
  const virtual_clock clock;
  auto options = inline_options(clock);
  options.history_revisions = 100;
  options.history_time = std::chrono::seconds{60};
  const auto store = open(options);
  const auto change = [&](int times) {
    for (int i = 0; i < times; ++i)
      must(commit(*store, just(put("a", std::to_string(i)))));
  };
  change(500);
  CHECK(store->stats().compacted == 0);  // enough of them, but too young
  clock.advance(std::chrono::seconds{61});
  change(150);
  const auto stats = store->stats();
  CHECK(stats.compacted <= 501);                  // changes younger than a minute stay …
  CHECK(stats.compacted + 100 <= stats.current);  // … and so do the newest hundred
  CHECK(stats.compacted >= 480);
  clock.advance(std::chrono::seconds{3600});
  change(20);
  CHECK(store->stats().compacted + 100 <= store->stats().current);
  CHECK(store->stats().compacted + 125 >= store->stats().current);
}

TEST_CASE("a pinned state can be read again for as long as a list may take") {
  const virtual_clock clock;
  const auto store = open(inline_options(clock));
  const auto first = must(commit(*store, just(put("a", "1"))));
  const auto pinned = store->read();
  store->pin(pinned);
  const auto second = must(commit(*store, just(put("a", "2"))));
  must(commit(*store, just(put("a", "3"))));
  CHECK(value_of(store->read_at(first)->find(key_of("a"))) == "1");
  CHECK(store->read_at(second).error().code == errc::compacted);
  CHECK(store->read_at(second + 1)->at() == second + 1);
  CHECK(store->read_at(second + 2).error().code == errc::future_revision);
  clock.advance(std::chrono::seconds{299});
  CHECK(store->read_at(first));
  store->pin(pinned);  // the next page
  clock.advance(std::chrono::seconds{299});
  CHECK(store->read_at(first));
  clock.advance(std::chrono::seconds{2});
  CHECK(store->read_at(first).error().code == errc::compacted);
}

TEST_CASE("there is a limit to pins, and the oldest goes first") {
  const virtual_clock clock;
  const auto store = open(inline_options(clock));
  std::vector<revision> pinned;
  for (int i = 0; i < 300; ++i) {
    pinned.push_back(must(commit(*store, just(put("a", std::to_string(i))))));
    store->pin(store->read());
    clock.advance(std::chrono::seconds{1} / 2);
  }
  must(commit(*store, just(put("a", "last"))));
  int kept = 0;
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    const bool there = store->read_at(pinned[i]).has_value();
    CHECK(there == (i >= pinned.size() - 256));
    kept += there;
  }
  CHECK(kept == 256);
}

TEST_CASE("compaction beside writers and readers leaves no gap in anybody's history") {
  scratch_directory place;
  {
    const auto store = open(in_directory(place.path()));
    std::atomic<bool> stop{false};
    std::atomic<int> gaps{0}, refused{0}, complete{0};
    std::thread reader{[&] {
      while (!stop) {
        const auto upper = store->read().at();
        // An empty store is at revision 1, which has no change.
        const auto after = std::max(
            {store->stats().compacted, revision{1}, upper - std::min<revision>(upper, 40)});
        const auto found = store->changes(after, 1'000);
        if (!found) {
          if (found.error().code == errc::compacted) ++refused;
          continue;
        }
        revision next = after + 1;
        for (const auto& each : *found) {
          if (each.at != next++) ++gaps;
          if (each.type == change_type::updated && each.previous == nullptr) ++gaps;
        }
        if (next <= upper) ++gaps;
        ++complete;
      }
    }};
    std::thread compactor{[&] {
      while (!stop)
        if (const auto at = store->read().at(); at > 30) (void)store->compact(at - 20);
    }};
    for (int i = 0; i < 1'500; ++i)
      must(commit(*store, just(put(std::to_string(i % 7), "x"))));
    const bool enough = eventually([&] { return complete > 20; });
    stop = true;
    reader.join();
    compactor.join();
    CHECK(enough);
    CHECK(gaps == 0);
  }
  CHECK(problems_in(place.path()) == lines{});
}

}  // namespace
}  // namespace troupe::persistence::testing
