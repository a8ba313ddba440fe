// The events of a watch add up to exactly the filtered state at each revision, in order, without
// gaps or duplicates: for random histories, filters, resume points and credits.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "actors/core_fixture.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::test {

using actors::event_type;
using actors::subscribe;
using persistence::revision;

namespace {

using state = std::map<std::string, std::string>;  // key -> resourceVersion

// The state at every revision, recorded by the test.
struct history {
  std::map<revision, std::map<std::string, api::object_ptr>> states;
  revision compacted = 0;

  state at(revision when, const actors::watch_view& view) const {
    state seen;
    const auto found = states.upper_bound(when);
    if (found == states.begin()) return seen;
    for (const auto& [key, object] : std::prev(found)->second) {
      if (view.covers(key) && view.shows(object)) seen[key] = object->meta().resource_version();
    }
    return seen;
  }
};

// One subscription and its invariants.
struct watch {
  watch(core_fixture& d, int number, const subscribe& request)
      : hand{d, fmt::format("s{}", number)},
        view{request.prefix, request.accept, {}},
        after{request.after} {
    hand.ref.tell(probe::say<subscribe>{request});
  }

  // Reads the messages that arrived since the last call.
  void look(const history& past) {
    for (; read < hand.heard->messages.size(); ++read) {
      const auto& m = hand.heard->messages[read];
      for (const auto& event : m.events)
        apply(event, m.synced);
      if (!m.events.empty()) {
        // All events of the last message's final revision have arrived.
        REQUIRE((!began || !was_synced || m.events[0].at > last));
      }
      for (const auto& event : m.events)
        last = std::max(last, event.at);
      began = true;
      was_synced = m.synced;
      if (!m.synced) continue;
      REQUIRE(m.up_to >= up_to);
      REQUIRE(m.up_to >= last);
      up_to = m.up_to;
      REQUIRE(folded == past.at(up_to, view));
    }
  }

  void apply(const actors::watch_event& event, bool) {
    if (event.type == event_type::bookmark) return;
    const auto key =
        event.object->kind().key(event.object->meta().namespace_(), event.object->meta().name());
    const bool known = folded.count(key) != 0;
    REQUIRE(event.at > after);
    REQUIRE(event.object->meta().resource_version() == std::to_string(event.at));
    if (event.type == event_type::deleted) {
      REQUIRE(known);
      REQUIRE((!view.accept || view.accept(*event.object)));
      folded.erase(key);
    } else {
      REQUIRE(known == (event.type == event_type::modified));
      folded[key] = event.object->meta().resource_version();
    }
  }

  subscriber hand;
  actors::watch_view view;
  revision after;
  state folded;
  std::size_t read = 0;
  bool began = false, was_synced = false;
  revision last = 0, up_to = 0;
};

class trial {
 public:
  trial(std::uint64_t seed, bool far) : random_{seed}, fixture_{seed, options(random_, far)} {
    past_.states[fixture_.store->read().at()] = {};
    fixture_.saw = [this](const auto& batch) {
      for (const auto& each : batch)
        remember(each);
    };
  }

  void run() {
    for (int step = 0; step < 120; ++step) {
      switch (pick(6)) {
        case 0:
        case 1:
        case 2:
          write();
          break;
        case 3:
          if (watches_.size() < 6) begin();
          break;
        case 4:
          give(pick(4));
          break;
        case 5:
          if (pick(8) == 0) compact();
          if (pick(2) == 0) fixture_.simulation.settle();
          break;
      }
      for (int i = pick(10); i > 0; --i) {
        if (fixture_.far != nullptr && pick(3) == 0) fixture_.far->step();
        fixture_.simulation.step();
      }
      for (auto& w : watches_)
        w->look(past_);
    }
    if (fixture_.far != nullptr) fixture_.far->run();
    for (int i = 0; i < 3; ++i) {
      give(1'000'000);
      fixture_.simulation.advance(actors::defaults::watcher_round);
    }
    for (auto& w : watches_)
      finish(*w);
  }

 private:
  static core_fixture_options options(std::mt19937_64& random, bool far) {
    core_fixture_options o;
    o.far = far;
    o.watcher.window_changes = 1 + random() % 12;
    o.watcher.log_part_changes = 1 + random() % 5;
    return o;
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void write() {
    const int keys = 1 + pick(3);
    std::map<std::string, std::unique_ptr<api::body>> chosen;
    for (int i = 0; i < keys; ++i) {
      const auto ns = pick(2) == 0 ? "default" : "other";
      const auto name = fmt::format("c{}", pick(4));
      chosen[core_fixture::key(ns, name)] =
          pick(3) == 0 ? nullptr : core_fixture::config(ns, name, pick(2) == 0, pick(1000));
    }
    core_fixture::contents all;
    for (auto& [key, content] : chosen)
      all.emplace_back(key, std::move(content));
    fixture_.send(std::move(all));
  }

  // Several changes may have one revision.
  void remember(const persistence::change& made) {
    auto next = past_.states.rbegin()->second;
    if (made.type == persistence::change_type::removed)
      next.erase(made.key);
    else
      next[made.key] = made.object;
    past_.states[made.at] = std::move(next);
  }

  void begin() {
    static const char* const prefixes[] = {"/registry/configmaps/", "/registry/configmaps/default/",
                                           "/registry/configmaps/default/c1", "/registry/"};
    subscribe request{.id = 1, .prefix = prefixes[pick(4)]};
    if (pick(2) == 0) request.accept = shown;
    const auto first = past_.states.begin()->first, last = past_.states.rbegin()->first;
    if (pick(2) == 0) request.after = first + random_() % (last - first + 1);
    request.credit = static_cast<std::uint32_t>(pick(6));
    request.bookmarks = pick(2) == 0;
    watches_.push_back(
        std::make_unique<watch>(fixture_, static_cast<int>(watches_.size()), request));
    auto& made = *watches_.back();
    if (request.after != 0) made.folded = past_.at(request.after, made.view);
  }

  void give(int credit) {
    for (auto& w : watches_) {
      if (credit < 1000 && pick(2) == 0) continue;
      w->hand.ref.tell(probe::say<actors::more>{{1, static_cast<std::uint32_t>(credit)}});
    }
  }

  void compact() {
    const auto now = fixture_.store->read().at();
    const auto up_to = past_.compacted + random_() % (now - past_.compacted + 1);
    if (fixture_.store->compact(up_to)) past_.compacted = std::max(past_.compacted, up_to);
  }

  void finish(watch& w) {
    w.look(past_);
    if (!w.hand.heard->ended.empty()) {
      // Only a stream that lagged behind the compaction may end, and no message may follow its end.
      CHECK(w.hand.heard->ended.front().reason.code == persistence::errc::compacted);
      CHECK(std::max(w.up_to, w.after) < past_.compacted);
      return;
    }
    CHECK(w.folded == past_.at(fixture_.store->read().at(), w.view));
  }

  std::mt19937_64 random_;
  core_fixture fixture_;
  history past_;
  std::vector<std::unique_ptr<watch>> watches_;
};

}  // namespace

TEST_CASE("a watcher's events fold to the filtered state at each revision") {
  const auto seed = GENERATE(range(1, 301));
  INFO("seed " << seed);
  trial{static_cast<std::uint64_t>(seed), false}.run();
}

TEST_CASE("a watcher's events fold to the state when revisions are missing or shared", "[far]") {
  const auto seed = GENERATE(range(1, 301));
  INFO("seed " << seed);
  trial{static_cast<std::uint64_t>(seed), true}.run();
}

}  // namespace troupe::test
