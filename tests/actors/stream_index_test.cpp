// The index of the watcher's streams, compared with a scan of all of them.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <set>

#include "actors/core_fixture.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using actors::subscribe;
using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using persistence::change;
using persistence::revision;

namespace {

std::string line_of(const actors::watch_event& event) {
  static const char* const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
  const auto& object = *event.object;
  return fmt::format("{} {}@{}", names[static_cast<int>(event.type)], object.meta().name(),
                     object.revision());
}

// Subscribers with views of all kinds, and random changes of pods and config maps.
class trial {
 public:
  explicit trial(std::uint64_t seed) : random_{seed}, fixture_{seed} {}

  void run() {
    for (int i = 0; i < 25; ++i)
      begin();
    const auto from = fixture_.store->read().at();
    for (int i = 0; i < 40; ++i) {
      change_something();
      if (pick(3) == 0) fixture_.simulation.settle();
    }
    fixture_.simulation.settle();
    const auto changes = fixture_.store->changes(from, 10'000);
    REQUIRE(changes);
    for (const auto& w : watches_) {
      INFO("prefix " << w->view.prefix << ", node " << w->view.on_node << ", filter "
                     << bool{w->view.accept});
      CHECK(w->subscriber.heard->lines() == seen_by(w->view, *changes));
    }
  }

 private:
  struct watch {
    test::subscriber subscriber;
    actors::watch_view view;
  };

  static std::vector<std::string> seen_by(const actors::watch_view& view,
                                          const std::vector<change>& changes) {
    std::vector<std::string> lines;
    actors::event_objects left;
    for (const auto& c : changes)
      if (const auto event = event_for(view, c, left)) lines.push_back(line_of(*event));
    return lines;
  }

  std::size_t pick(std::size_t below) { return random_() % below; }
  template <std::size_t N>
  std::string one_of(const char* const (&names)[N]) {
    return names[pick(N)];
  }
  std::string some_namespace() { return one_of({"default", "other"}); }
  std::string some_name() { return one_of({"a", "b", "ab"}); }
  std::string some_node() { return one_of({"n1", "n2", ""}); }

  void begin() {
    const auto& kind = pick(2) == 0 ? api::kind_of<Pod>() : api::kind_of<ConfigMap>();
    const std::string prefixes[] = {kind.key(some_namespace(), some_name()),
                                    kind.prefix(some_namespace()), kind.prefix(), "/registry/"};
    subscribe request{.id = 1, .prefix = prefixes[pick(4)]};
    if (pick(3) == 0) request.accept = shown;
    if (pick(3) == 0) request.on_node = some_node();
    watches_.push_back(
        std::make_unique<watch>(watch{{fixture_, fmt::format("s{}", watches_.size())},
                                      {request.prefix, request.accept, request.on_node}}));
    watches_.back()->subscriber.say(request);
  }

  // One transaction: a batch of the watcher.
  void change_something() {
    persistence::transaction transaction;
    std::set<std::string> keys;
    for (auto left = 1 + pick(4); left > 0; --left) {
      const auto ns = some_namespace(), name = some_name();
      const bool gone = pick(4) == 0;
      const bool pod = pick(2) == 0;
      const auto& kind = pod ? api::kind_of<Pod>() : api::kind_of<ConfigMap>();
      auto content = kind.make();
      auto& meta = api::meta_of(*content);
      meta.set_namespace_(ns);
      meta.set_name(name);
      if (pick(2) == 0) (*meta.mutable_labels())["shown"] = "yes";
      if (pod) static_cast<Pod&>(*content).mutable_spec()->set_node_name(some_node());
      auto key = kind.key(ns, name);
      if (!keys.insert(key).second) continue;
      transaction.mutations.push_back({std::move(key), &kind, gone ? nullptr : std::move(content)});
    }
    fixture_.store->submit(std::move(transaction), [](const persistence::outcome&) {});
  }

  std::mt19937_64 random_;
  core_fixture fixture_;
  std::vector<std::unique_ptr<watch>> watches_;
};

}  // namespace

TEST_CASE("each stream gets the same events as by a scan of all streams, for any seed") {
  const auto seed = GENERATE(range(1, 61));
  INFO("seed " << seed);
  trial{static_cast<std::uint64_t>(seed)}.run();
}

TEST_CASE("a change is not compared with ten thousand streams that it does not concern") {
  core_fixture d{1};
  subscriber others{d, "others"}, concerned{d, "concerned"};
  std::size_t looks = 0;
  const actors::object_filter counting = [&](const api::object&) { return ++looks > 0; };
  const auto& maps = api::kind_of<ConfigMap>();
  for (std::uint64_t i = 1; i <= 10'000; i += 4) {
    const auto elsewhere = fmt::format("elsewhere-{}", i);
    for (subscribe request : {subscribe{.id = i, .prefix = maps.key("default", elsewhere)},
                              subscribe{.id = i + 1, .prefix = maps.prefix(elsewhere)},
                              subscribe{.id = i + 2, .prefix = api::kind_of<Pod>().prefix()},
                              subscribe{.id = i + 3, .prefix = maps.prefix("default")}}) {
      request.accept = counting;
      // The last one is for the namespace, but also for a node: no config map is on a node.
      if (request.id >= i + 2) request.on_node = elsewhere;
      others.ref.tell(probe::say<subscribe>{std::move(request)});
    }
  }
  d.simulation.settle();
  concerned.say(subscribe{.id = 1, .prefix = maps.key("default", "a"), .accept = counting});
  CHECK(looks == 0);
  d.put("default", "a", true, 1);
  d.simulation.settle();
  CHECK(concerned.heard->lines().size() == 1);
  CHECK(looks == 1);
  CHECK(others.heard->events().empty());
}

}  // namespace troupe::test
