// Watches over HTTP that are cut, resumed and outrun by compaction while the state changes: the
// events of each client are compared with the whole history, by the rules of etcd's robustness
// suite (tests/robustness/validate/watch.go): filter, order, no duplicate, no gap, resumed where it
// ended, nothing at or below a bookmark, the right previous state of deleted, created or changed
// objects, and a transaction over several objects completely or not at all.
//
// A client lists, watches from the list's revision, and resumes from the last revision that it saw;
// after a 410 it lists again.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "api/schema/core_config.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "support/seeds.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using api::core::v1::ConfigMap;
using persistence::revision;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";

// One event of a watch, or one item of a list, reduced to the compared parts.
struct seen {
  revision at = 0;
  std::string type, name, color, number;
  auto operator<=>(const seen&) const = default;
};

std::ostream& operator<<(std::ostream& out, const seen& s) {
  return out << s.at << ' ' << s.type << ' ' << s.name << ' ' << s.color << ' ' << s.number;
}

seen seen_in(const json_text& text, const std::string& path, std::string type) {
  const auto version = text.at(path + "metadata.resourceVersion");
  return {version.empty() ? 0 : std::stoull(version), std::move(type),
          text.at(path + "metadata.name"), text.at(path + "metadata.labels.color"),
          text.at(path + "data.n")};
}

// A client's request.
struct wish {
  std::string query;
  std::function<bool(const seen&)> matches;
};

const std::vector<wish> wishes{
    {"?", [](const seen&) { return true; }},
    {"?labelSelector=color%3Dred", [](const seen& s) { return s.color == "red"; }},
    {"?fieldSelector=metadata.name%3Dm03", [](const seen& s) { return s.name == "m03"; }}};

// One watch: from a list or another revision to its end.
struct segment {
  revision after = 0;
  std::vector<seen> listed;  // at `after`, if it began with a list
  bool lists = false;
  std::vector<seen> events;  // including bookmarks
  bool expired = false;
};

seen seen_of(const api::object& object, revision at, std::string type) {
  const auto& map = object.as<ConfigMap>();
  const auto entry = [](const auto& of, const char* key) {
    const auto found = of.find(key);
    return found == of.end() ? std::string{} : found->second;
  };
  return {at, std::move(type), map.metadata().name(), entry(map.metadata().labels(), "color"),
          entry(map.data(), "n")};
}

// The expected event for a change in a watch with this request.
std::optional<seen> expected_of(const persistence::change& change, const wish& wish) {
  using persistence::change_type;
  const auto was = change.previous ? std::optional{seen_of(*change.previous, change.at, "DELETED")}
                                   : std::nullopt;
  const bool removed = change.type == change_type::removed;
  const auto is =
      removed ? std::nullopt : std::optional{seen_of(*change.object, change.at, "MODIFIED")};
  const bool before = was && wish.matches(*was), after = is && wish.matches(*is);
  if (!before && !after) return std::nullopt;
  if (!after) return was;
  auto event = *is;
  if (!before) event.type = "ADDED";
  return event;
}

// The expected events of a watch between two revisions. All but the last event of a transaction
// have the revision before it, from which the whole transaction is sent again; its events then come
// once more, with its revision.
std::vector<seen> expected_events(revision after, revision up_to,
                                  const std::vector<persistence::change>& history,
                                  const wish& wish) {
  std::vector<seen> all;
  for (auto at = history.begin(); at != history.end();) {
    std::vector<seen> events;
    const auto now = at->at;
    for (; at != history.end() && at->at == now; ++at)
      if (auto event = expected_of(*at, wish)) events.push_back(std::move(*event));
    if (now <= after || now > up_to || events.empty()) continue;
    const auto last = std::move(events.back());
    events.pop_back();
    for (auto event : events) {
      event.at = now - 1;
      all.push_back(std::move(event));
    }
    all.push_back(last);
    for (auto& event : events) {
      if (event.type == "DELETED") continue;
      event.type = "MODIFIED";
      all.push_back(std::move(event));
    }
  }
  return all;
}

// The expected list at a revision.
std::vector<seen> expected_state(revision at, const std::vector<persistence::change>& history,
                                 const wish& wish) {
  std::map<std::string, seen> state;
  for (const auto& change : history) {
    if (change.at > at) break;
    const auto event = expected_of(change, wish);
    if (event && event->type == "DELETED") state.erase(event->name);
    if (event && event->type != "DELETED")
      state[event->name] = seen_of(*change.object, change.at, "");
  }
  std::vector<seen> expected;
  for (const auto& [name, each] : state)
    expected.push_back(each);
  return expected;
}

void validate(const std::vector<segment>& all, const std::vector<persistence::change>& history,
              const wish& wish) {
  for (const auto& s : all) {
    INFO("the segment after revision " << s.after << " of " << wish.query);
    if (s.lists) CHECK(s.listed == expected_state(s.after, history, wish));
    const auto expected_until = [&](revision up_to) {
      return expected_events(s.after, up_to, history, wish);
    };
    std::vector<seen> events;
    for (const auto& event : s.events)
      if (event.type == "BOOKMARK")
        CHECK(events == expected_until(event.at));
      else
        events.push_back(event);
    auto expected = expected_until(history.back().at);
    REQUIRE(events.size() <= expected.size());
    expected.resize(events.size());
    CHECK(events == expected);
  }
}

// Watches on a thread of its own until it has seen its final revision.
class informer {
 public:
  informer(test::wire_options options, const wish& wish, std::uint64_t seed)
      : where_{std::move(options)}, wish_{wish}, random_{seed} {
    thread_ = std::thread{[this] { run(); }};
  }
  ~informer() {
    if (thread_.joinable()) end_at(1);
  }
  void end_at(revision last) {
    last_ = last;
    thread_.join();
  }

  // Number of events and watches so far.
  std::size_t steps() const noexcept { return steps_; }

  // To be read after its end.
  std::vector<segment> segments;
  std::vector<std::string> errors;  // codes

 private:
  void run() {
    revision at = 0;
    const auto give_up = std::chrono::steady_clock::now() + 10min;
    while (std::chrono::steady_clock::now() < give_up) {
      ++steps_;
      auto& now = segments.emplace_back();
      if (at == 0)
        list(now);
      else
        now.after = at;
      watch(now);
      at = now.expired ? 0 : now.events.empty() ? now.after : now.events.back().at;
      if (const auto last = last_.load(); last != 0 && at >= last) return;
    }
  }

  void list(segment& into) {
    test::http_client client{where_};
    const rest_answer answer{client.get(maps + wish_.query)};
    into.lists = true;
    into.after = std::stoull(answer.at("metadata.resourceVersion"));
    for (std::size_t i = 0; i < answer.size("items"); ++i)
      into.listed.push_back(seen_in(answer, fmt::format("items.{}.", i), ""));
  }

  // Watches until it cuts the connection after some events, or the server ends it after a second.
  void watch(segment& into) {
    const auto cut_after = std::uniform_int_distribution<std::size_t>{1, 60}(random_);
    watching events{where_, fmt::format("{}{}&watch=1&allowWatchBookmarks=true&timeoutSeconds=1"
                                        "&resourceVersion={}",
                                        maps, wish_.query, into.after)};
    while (into.events.size() < cut_after) {
      const auto event = events.next();
      if (!event) return;
      if (event->at("type") == "ERROR") {
        errors.push_back(event->at("object.code"));
        into.expired = true;
        return;
      }
      ++steps_;
      into.events.push_back(seen_in(*event, "object.", event->at("type")));
    }
  }

  const test::wire_options where_;
  const wish& wish_;
  std::mt19937_64 random_;
  std::atomic<revision> last_{0};
  std::atomic<std::size_t> steps_{0};
  std::thread thread_;
};

// Changes the state, and records all changes.
class historian {
 public:
  historian(rest_test& server, std::uint64_t seed)
      : server_{server}, random_{seed}, known_{server.store().read().at()} {}

  void meddle() {
    const auto path = fmt::format("{}/m{:02}", maps, below(12));
    const auto* color = below(2) == 0 ? "red" : "blue";
    const auto content =
        fmt::format(R"("metadata":{{"name":"{}","labels":{{"color":"{}"}}}},"data":{{"n":"{}"}})",
                    path.substr(path.rfind('/') + 1), color, ++count_);
    const auto verb = below(8);
    if (verb >= 6)
      change_several();
    else if (verb == 0)
      server_.remove(path);
    else if (verb < 3)
      server_.post(maps, "{" + content + "}");
    else
      server_.patch(path, "merge", "{" + content + "}");
    note();
  }

  // Crashes the watcher, or compacts the log.
  void trouble() {
    if (below(2) == 0) {
      auto& system = server_.plane().system();
      system.restart(server_.plane().core_actors().watcher, "a test");
    }
    const auto back = std::min<revision>(below(40), known_);
    REQUIRE(server_.store().compact(known_ - back).has_value());
  }

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }

  std::vector<persistence::change> history;

 private:
  // Several objects by one transaction: some are deleted, changed or created.
  void change_several() {
    const auto& kind = api::kind_of<ConfigMap>();
    persistence::transaction all;
    const auto first = below(12), count = 2 + below(4);
    for (auto i = first; i < std::min<std::size_t>(first + count, 12); ++i) {
      const auto name = fmt::format("m{:02}", i);
      const auto key = kind.key("default", name);
      const auto found = server_.store().read().find(key);
      std::unique_ptr<ConfigMap> map;
      if (!found || below(3) != 0) {
        map = found ? found->copy_as<ConfigMap>() : std::make_unique<ConfigMap>();
        map->mutable_metadata()->set_name(name);
        map->mutable_metadata()->set_namespace_("default");
        (*map->mutable_metadata()->mutable_labels())["color"] = below(2) == 0 ? "red" : "blue";
        (*map->mutable_data())["n"] = std::to_string(++count_);
      }
      all.mutations.push_back({key, &kind, std::move(map)});
    }
    std::promise<bool> done;
    server_.store().submit(std::move(all), [&](const persistence::outcome& result) {
      done.set_value(result.has_value());
    });
    REQUIRE(done.get_future().get());
  }

  void note() {
    const auto fresh = server_.store().changes(known_, 100'000);
    REQUIRE(fresh);
    for (const auto& each : *fresh) {
      known_ = std::max(known_, each.at);
      if (each.key.starts_with("/registry/configmaps/default/")) history.push_back(each);
    }
  }

  rest_test& server_;
  std::mt19937_64 random_;
  revision known_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("watches that are cut, resumed and compacted deliver each change once and in order") {
  test::for_each_seed(3, [](std::uint64_t seed) {
    rest_test server{{.history_revisions = 1}};
    historian writes{server, seed};
    std::vector<std::unique_ptr<informer>> followers;
    for (std::size_t i = 0; i < 2 * wishes.size(); ++i)
      followers.push_back(
          std::make_unique<informer>(server.where(), wishes[i % wishes.size()], seed * 100 + i));
    const auto steps = [&] {
      std::size_t sum = 0;
      for (const auto& each : followers)
        sum += each->steps();
      return sum;
    };
    for (int i = 0; i < 1'500; ++i) {
      writes.meddle();
      if (writes.below(60) == 0) writes.trouble();
      // Not so far ahead that no client sees a change while it is new.
      const auto least = static_cast<std::size_t>(i);
      REQUIRE(rest_test::eventually([&] { return steps() >= least; }));
    }
    for (const auto& each : followers)
      each->end_at(server.store().read().at());
    std::size_t events = 0, cuts = 0, expired = 0;
    for (std::size_t i = 0; i < followers.size(); ++i) {
      const auto& each = *followers[i];
      validate(each.segments, writes.history, wishes[i % wishes.size()]);
      for (const auto& code : each.errors)
        CHECK(code == "410");
      for (const auto& s : each.segments)
        events += s.events.size();
      cuts += each.segments.size();
      expired += each.errors.size();
    }
    // With few events the test would prove little.
    CHECK(events > 1'000);
    CHECK(cuts > 40);
    CHECK(expired > 3);
    std::cout << "watch history: seed " << seed << ": " << writes.history.size() << " changes, "
              << events << " events, " << cuts << " watches, " << expired << " expired\n";
  });
}
