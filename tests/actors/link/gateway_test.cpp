// A node's gateway between its kubelet and a control plane that the test plays.
#include <catch2/catch.hpp>

#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/raw_ends.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using Catch::Matchers::Contains;
using persistence::errc;
using std::chrono::seconds;
using From = actors::wire::FromNode::Item;

namespace {

struct node_world {
  node_world() {
    gateway = actors::spawn_gateway(
        simulation.system(),
        {.node = "n0",
         .console = [this](const auto&, auto done) { questions.push_back(std::move(done)); },
         .linked = [this] { ++linked; },
         .unlinked = [this](const std::string& reason) { unlinked = reason; }});
    simulation.settle();
  }

  plane_line connect() {
    auto made = connect_raw_plane(gateway);
    simulation.settle();
    return made;
  }
  template <class F>
  void say(const plane_line& to, F fill) {
    REQUIRE(to.plane->say(fill));
    simulation.settle();
  }
  // Messages that the control plane has received since the last call.
  static std::vector<From> heard(const plane_line& from) {
    return std::exchange(from.plane->heard, {});
  }
  void subscribe(actor_of_test& subscriber, std::uint64_t id, persistence::revision after = 0) {
    actors::subscribe subscription;
    subscription.id = id;
    subscription.prefix = "/registry/pods/";
    subscription.on_node = "n0";
    subscription.after = after;
    subscription.credit = 10;
    subscriber.say(gateway, subscription);
  }
  // One bookmark of that stream.
  static void fill_events(actors::wire::ToNode::Item& item, std::uint64_t stream,
                          persistence::revision up_to, bool synced) {
    auto& events = *item.mutable_watch_events();
    events.set_stream(stream);
    events.set_up_to(up_to);
    events.set_synced(synced);
    auto& event = *events.add_events();
    event.set_type(actors::wire::Event::BOOKMARK);
    event.set_at(up_to);
  }
  static actors::commit commit_of(std::size_t bytes) {
    auto map = std::make_unique<ConfigMap>();
    map->mutable_metadata()->set_name("m");
    map->mutable_metadata()->set_namespace_("default");
    (*map->mutable_data())["text"] = std::string(bytes, 'x');
    const auto& kind = api::kind_of<ConfigMap>();
    auto transaction = std::make_shared<persistence::transaction>();
    transaction->mutations.push_back({kind.key("default", "m"), &kind, std::move(map)});
    return {transaction};
  }

  std::vector<std::function<void(actors::console_view)>> questions;
  int linked = 0;
  std::string unlinked;
  runtime::simulation simulation{1};
  runtime::actor_ref gateway;
};

}  // namespace

TEST_CASE("a subscription with a filter is refused: a function does not travel", "[link]") {
  node_world world;
  const auto plane = world.connect();
  actor_of_test kubelet{world.simulation, "kubelet"};
  actors::subscribe subscription;
  subscription.id = 3;
  subscription.prefix = "/registry/pods/";
  subscription.accept = [](const api::object&) { return true; };
  kubelet.say(world.gateway, subscription);
  REQUIRE(kubelet.heard->ended.size() == 1);
  CHECK(kubelet.heard->ended[0].id == 3);
  CHECK(kubelet.heard->ended[0].reason.code == errc::invalid);
  CHECK(plane.plane->heard.empty());
}

TEST_CASE("after a loss a stream goes on where it was, unless its beginning was cut short",
          "[link]") {
  node_world world;
  const auto first = world.connect();
  actor_of_test kubelet{world.simulation, "kubelet"};
  for (const std::uint64_t id : {1, 2, 3})
    world.subscribe(kubelet, id);
  const auto requests = world.heard(first);
  REQUIRE(requests.size() == 3);
  const auto number = [&](std::size_t i) { return requests[i].subscribe().stream(); };
  world.say(first, [&](auto& item) { world.fill_events(item, number(0), 5, false); });
  world.say(first, [&](auto& item) { world.fill_events(item, number(1), 7, true); });
  REQUIRE(kubelet.heard->events.size() == 2);

  first.line.cut();
  world.simulation.settle();
  REQUIRE(kubelet.heard->ended.size() == 1);
  CHECK(kubelet.heard->ended[0].id == 1);
  CHECK_THAT(kubelet.heard->ended[0].reason.message, Contains("the link was lost"));
  CHECK_FALSE(world.unlinked.empty());

  const auto second = world.connect();
  const auto again = world.heard(second);
  REQUIRE(again.size() == 2);
  CHECK(again[0].subscribe().after() == 7);
  CHECK(again[0].subscribe().credit() == 9);
  CHECK(again[1].subscribe().after() == 0);
  CHECK(again[1].subscribe().credit() == 10);
  for (const auto& each : again)
    for (const auto& old : requests)
      CHECK(each.subscribe().stream() != old.subscribe().stream());
}

TEST_CASE("a stream that was refused is asked for again after a while", "[link]") {
  node_world world;
  const auto plane = world.connect();
  actor_of_test kubelet{world.simulation, "kubelet"};
  world.subscribe(kubelet, 1);
  const auto number = world.heard(plane).at(0).subscribe().stream();
  world.say(plane, [&](auto& item) {
    item.mutable_watch_ended()->set_stream(number);
    item.mutable_watch_ended()->set_refused(true);
  });
  CHECK(plane.plane->heard.empty());
  world.simulation.advance(actors::link_defaults::refused_again + actors::link_defaults::round);
  const auto again = world.heard(plane);
  REQUIRE(again.size() == 1);
  CHECK(again[0].subscribe().stream() != number);
  CHECK(kubelet.heard->ended.empty());
}

TEST_CASE("a subscriber that ends or unsubscribes is removed at both ends", "[link]") {
  node_world world;
  const auto plane = world.connect();
  actor_of_test kubelet{world.simulation, "kubelet"}, other{world.simulation, "other"};
  world.subscribe(kubelet, 1);
  world.subscribe(other, 1);
  const auto requests = world.heard(plane);
  kubelet.say(world.gateway, actors::unsubscribe{1});
  const auto left = world.heard(plane);
  REQUIRE(left.size() == 1);
  CHECK(left[0].unsubscribe().stream() == requests.at(0).subscribe().stream());
  other.end();
  world.simulation.advance(actors::link_defaults::sweep);
  const auto swept = world.heard(plane);
  REQUIRE(swept.size() == 1);
  CHECK(swept[0].unsubscribe().stream() == requests.at(1).subscribe().stream());
  // No subscriber is left to notify.
  world.say(plane, [&](auto& item) {
    world.fill_events(item, requests.at(0).subscribe().stream(), 9, true);
  });
  CHECK(kubelet.heard->events.empty());
}

TEST_CASE("unanswered requests end, and requests beyond the limits of number and size are refused",
          "[link]") {
  node_world world;
  const auto plane = world.connect();
  actor_of_test kubelet{world.simulation, "kubelet"};
  constexpr auto most = actors::link_defaults::requests_under_way;
  for (std::size_t i = 0; i <= most; ++i)
    kubelet.ask(world.gateway, world.commit_of(1), seconds{600}, &told::committed);
  REQUIRE(kubelet.heard->committed.size() == 1);
  CHECK(kubelet.heard->committed[0].result.error().code == errc::overloaded);
  CHECK(world.heard(plane).size() == most);
  world.simulation.advance(actors::link_defaults::request_limit + actors::link_defaults::round);
  REQUIRE(kubelet.heard->failed.size() == most);
  CHECK(kubelet.heard->failed[0] == runtime::request_error::timeout);

  kubelet.heard->committed.clear();
  kubelet.ask(world.gateway, world.commit_of(runtime::link::defaults::frame_limit_bytes),
              seconds{600}, &told::committed);
  REQUIRE(kubelet.heard->committed.size() == 1);
  CHECK(kubelet.heard->committed[0].result.error().code == errc::too_large);
  CHECK(plane.plane->heard.empty());
}

TEST_CASE("without a link requests fail at once, and say that nothing was done", "[link]") {
  node_world world;
  actor_of_test kubelet{world.simulation, "kubelet"};
  kubelet.ask(world.gateway, world.commit_of(1), seconds{600}, &told::committed);
  kubelet.ask(world.gateway, actors::evict{.pod_key = "/registry/pods/default/a"}, seconds{600},
              &told::commanded);
  REQUIRE(kubelet.heard->committed.size() == 1);
  CHECK(kubelet.heard->committed[0].result.error().code == errc::closed);
  REQUIRE(kubelet.heard->commanded.size() == 1);
  CHECK(kubelet.heard->commanded[0].result.error().code == 503);
}

TEST_CASE("late messages from or for an older session do not affect the newer one", "[link]") {
  node_world world;
  const auto older = world.connect();
  world.say(older, [](auto& item) { item.mutable_ask_console()->set_ask(1); });
  REQUIRE(world.questions.size() == 1);
  // The new session has begun, but the gateway has not been notified yet.
  const auto newer = connect_raw_plane(world.gateway);
  REQUIRE(older.plane->say([](auto& item) { item.mutable_ask_console()->set_ask(2); }));
  world.simulation.settle();
  CHECK(world.questions.size() == 1);
  CHECK_THAT(older.plane->end, Contains("another connection took its place"));
  world.questions[0]({200, "for the older one", {}});
  older.line.cut();
  world.gateway.tell(actors::call_failed{"an attempt that was under way"});
  world.simulation.settle();
  CHECK(newer.plane->heard.empty());
  CHECK(newer.plane->end.empty());
  CHECK(world.linked == 2);
  CHECK(world.unlinked.empty());
}

TEST_CASE("a session that ends before anybody has read of it ends like any other", "[link]") {
  node_world world;
  const auto cut = connect_raw_plane(world.gateway);
  cut.line.cut();
  world.simulation.settle();
  CHECK(world.linked == 1);
  CHECK_FALSE(world.unlinked.empty());

  const auto unread = connect_raw_plane(world.gateway);
  world.simulation.system().stop(world.gateway);
  world.simulation.settle();
  CHECK_FALSE(unread.plane->end.empty());
}

TEST_CASE("an answer too large for a frame is replaced by an error", "[link]") {
  node_world world;
  const auto plane = world.connect();
  world.say(plane, [](auto& item) { item.mutable_ask_console()->set_ask(4); });
  REQUIRE(world.questions.size() == 1);
  world.questions[0]({200, std::string(runtime::link::defaults::frame_limit_bytes, 'x'), 1});
  world.simulation.settle();
  const auto heard = world.heard(plane);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].console_answer().ask() == 4);
  CHECK(heard[0].console_answer().status() == 0);
  CHECK_THAT(heard[0].console_answer().body(), Contains("larger than a frame"));
}

namespace {

// Logs that are never read: no thread takes part in the simulation.
struct silent_logs : actors::log_source {
  struct log : actors::log_stream {
    void read(std::function<void(actors::log_text)>) override {}
  };
  std::unique_ptr<actors::log_stream> open_log(const actors::log_address&,
                                               actors::log_query) override {
    return std::make_unique<log>();
  }
};

}  // namespace

TEST_CASE("the log streams of a node are bounded, and end with the session", "[link]") {
  runtime::simulation world{1};
  const auto gateway = actors::spawn_gateway(
      world.system(), {.node = "n0", .logs = std::make_shared<silent_logs>()});
  const auto plane = connect_raw_plane(gateway);
  world.settle();
  const auto tellers = [&] {
    std::size_t count = 0;
    world.system().actors().each([&](const auto& each) { count += each.kind == "log" ? 1 : 0; });
    return count;
  };
  constexpr auto most = actors::link_defaults::served_requests;
  for (std::size_t ask = 1; ask <= most + 1; ++ask) {
    REQUIRE(plane.plane->say([&](auto& item) { item.mutable_open_log()->set_ask(ask); }));
    world.settle();
  }
  CHECK(tellers() == most);
  REQUIRE(plane.plane->heard.size() == 1);
  const auto& refused = plane.plane->heard[0].log_part();
  CHECK(refused.ask() == most + 1);
  CHECK(refused.ended());
  CHECK_THAT(refused.problem(), Contains("too many requests to node n0"));
  // A closed log makes room for another; a message of another sender does not end it.
  gateway.tell(actors::log_part{.id = 3, .text = {}, .ended = true});
  for (std::size_t ask = 1; ask <= 2; ++ask)
    REQUIRE(plane.plane->say([&](auto& item) { item.mutable_close_log()->set_ask(ask); }));
  world.settle();
  CHECK(tellers() == most - 2);
  for (std::size_t ask = most + 2; ask <= most + 3; ++ask)
    REQUIRE(plane.plane->say([&](auto& item) { item.mutable_open_log()->set_ask(ask); }));
  world.settle();
  CHECK(tellers() == most);
  plane.line.cut();
  world.settle();
  CHECK(tellers() == 0);
}

TEST_CASE("a gateway that crashed continues no log stream of its former incarnation", "[link]") {
  runtime::simulation world{1};
  const auto gateway = actors::spawn_gateway(
      world.system(), {.node = "n0", .logs = std::make_shared<silent_logs>()});
  const auto open = [&](const plane_line& to, const char* uid) {
    REQUIRE(to.plane->say([&](auto& item) {
      item.mutable_open_log()->set_ask(1);
      item.mutable_open_log()->set_pod_uid(uid);
    }));
    world.settle();
  };
  const auto tellers = [&] {
    std::vector<runtime::actor_ref> all;
    world.system().actors().each([&](const auto& each) {
      if (each.kind == "log") all.push_back(world.system().actors().find("log", each.name));
    });
    return all;
  };
  const auto before = connect_raw_plane(gateway);
  open(before, "null");
  REQUIRE(tellers().size() == 1);
  const auto old = tellers().front();
  world.system().kill(gateway, "a test");
  world.advance(seconds{1});
  CHECK(before.plane->end != "");
  const auto after = connect_raw_plane(gateway);
  open(after, "zero");
  // The same ids, another log.
  REQUIRE(tellers().size() == 1);
  CHECK_FALSE(tellers().front() == old);
}

TEST_CASE("a control plane that reads late gets all in order, one that never reads is left",
          "[link]") {
  node_world world;
  const auto plane = world.connect();
  plane.plane->deaf = true;
  actor_of_test kubelet{world.simulation, "kubelet"};
  constexpr std::size_t mega = 1u << 20;
  const auto send = [&](int number) {
    kubelet.say(world.gateway, actors::evict{.pod_key = std::to_string(number),
                                             .message = std::string(mega, 'x')});
  };
  for (int i = 0; i < 12; ++i)
    send(i);
  CHECK(world.unlinked.empty());
  plane.plane->listen();
  world.simulation.advance(seconds{1});
  const auto heard = world.heard(plane);
  CHECK(plane.plane->makes_sense);
  REQUIRE(heard.size() == 12);
  for (std::size_t i = 0; i < heard.size(); ++i)
    CHECK(heard[i].evict().pod_key() == std::to_string(i));

  plane.plane->deaf = true;
  int sent = 0;
  while (world.unlinked.empty() && sent < 100) {
    send(sent++);
    world.simulation.advance(actors::link_defaults::backlog_round);
  }
  CHECK_THAT(world.unlinked, Contains("does not read from the link"));
  CHECK(sent * mega < 2 * actors::link_defaults::backlog_limit_bytes);
  plane.line.cut();  // it would wait forever for its reader
}

}  // namespace troupe::test
