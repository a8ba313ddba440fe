// Requests of the control plane to a node, and what a session accepts from it: watcher, readers and
// node are played by the test.
#include <catch2/catch.hpp>
#include <limits>

#include "actors/defaults.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_session.hpp"
#include "actors/link/raw_ends.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/link/loopback.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::coordination::v1::Lease;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using Catch::Matchers::Contains;
using std::chrono::seconds;
using To = actors::wire::ToNode::Item;

namespace {

// A control plane and the connected node n0.
struct one_node {
  one_node() {
    world.add("n0");
    made = connect_raw_node(plane, "n0");
  }

  template <class F>
  void say(F fill) {
    REQUIRE(made.node->say(fill));
    plane.settle();
  }
  std::vector<To> heard() { return std::exchange(made.node->heard, {}); }
  runtime::actor_ref session() { return plane.actor("link", "n0"); }
  runtime::actor_ref links() { return plane.plane().links().actor(); }
  const std::string& end() const { return made.node->end; }

  void open_log(actor_of_test& reader, std::uint64_t id, std::uint32_t credit,
                const std::string& node = "n0") {
    reader.say(links(), actors::open_log{.id = id, .node = node, .credit = credit});
  }
  void send_part(std::uint64_t ask, const std::string& text, bool ended = false) {
    say([&](auto& item) {
      item.mutable_log_part()->set_ask(ask);
      item.mutable_log_part()->set_text(text);
      item.mutable_log_part()->set_ended(ended);
    });
  }
  persistence::change_cause last_cause(const std::string& key) {
    const auto changes = plane.store().changes(0, 10'000);
    REQUIRE(changes);
    persistence::change_cause cause;
    for (const auto& each : *changes)
      if (each.key == key) cause = each.cause;
    return cause;
  }

  joined_cluster world{1};
  cluster& plane = world.plane();
  node_line made;
};

// A session whose watcher is the test.
struct watched_session {
  watched_session() {
    world.add("n0");
    auto& plane = world.plane();
    auto to = plane.plane().core_actors();
    to.watcher = watcher.ref();
    made.node = std::make_shared<raw_node>();
    made.line = make_loopback(
        peer_of("n0"), [node = made.node](const auto&) { return node; }, {"plane", {}, {}, {}},
        [&](const runtime::link::session_ptr& session)
            -> tl::expected<std::shared_ptr<runtime::link::receiver>, std::string> {
          const auto here = std::make_shared<actors::frame_inbox>(session);
          auto receiver = here->receiver();
          session_actor = plane.simulation().system().spawn(
              {.kind = "test", .name = "session", .restart = false},
              runtime::make<actors::node_session>(
                  "n0", here,
                  actors::node_session_context{&plane.store(), to,
                                               std::make_shared<actors::link_table>()}));
          return receiver;
        });
    made.node->session = made.line.one;
    plane.settle();
    // Its own two streams: no pods.
    REQUIRE(watcher.heard->subscribed.size() == 2);
    for (const auto& each : std::exchange(watcher.heard->subscribed, {}))
      watcher.say(session_actor,
                  actors::watch_events{.id = each.id, .up_to = 1, .synced = true, .events = {}});
    watcher.heard->more.clear();
  }

  void subscribe(std::uint64_t stream, std::uint32_t credit) {
    REQUIRE(made.node->say([&](auto& item) {
      item.mutable_subscribe()->set_stream(stream);
      item.mutable_subscribe()->set_prefix(api::kind_of<Node>().key({}, "n0"));
      item.mutable_subscribe()->set_credit(credit);
    }));
    world.plane().settle();
  }
  void more(std::uint64_t stream, std::uint32_t credit) {
    REQUIRE(made.node->say([&](auto& item) {
      item.mutable_more()->set_stream(stream);
      item.mutable_more()->set_credit(credit);
    }));
    world.plane().settle();
  }

  joined_cluster world{1, {.plane = {.controllers = false}}};
  actor_of_test watcher{world.plane().simulation(), "watcher"};
  runtime::actor_ref session_actor;
  node_line made;
};

constexpr auto all_credit = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TEST_CASE("a node gets no more events under way than the bound, whatever it asks for", "[link]") {
  watched_session t;
  auto& watcher = *t.watcher.heard;
  t.subscribe(1, all_credit);
  REQUIRE(watcher.subscribed.size() == 1);
  CHECK(watcher.subscribed[0].credit == actors::link_defaults::stream_credit);
  t.more(1, all_credit);
  CHECK(watcher.more.empty());
  actors::watch_events news{
      .id = watcher.subscribed[0].id, .up_to = 5, .synced = true, .events = {}};
  news.events = std::vector<actors::watch_event>(3, {actors::event_type::bookmark, 5, nullptr});
  t.watcher.say(t.session_actor, news);
  t.more(1, all_credit);
  REQUIRE(watcher.more.size() == 1);
  CHECK(watcher.more[0].credit == 3);
}

TEST_CASE("a stream outlives a crash of the watcher, but not the end of its history", "[link]") {
  watched_session t;
  auto& watcher = *t.watcher.heard;
  t.subscribe(1, 10);
  const auto first = std::exchange(watcher.subscribed, {}).at(0);
  t.watcher.say(t.session_actor,
                actors::watch_events{.id = first.id, .up_to = 5, .synced = true, .events = {}});
  t.made.node->heard.clear();
  t.watcher.say(t.session_actor,
                actors::watch_ended{first.id, {persistence::errc::closed, "it has crashed"}});
  CHECK(t.made.node->heard.empty());
  REQUIRE(watcher.subscribed.size() == 1);
  CHECK(watcher.subscribed[0].after == 5);
  CHECK(watcher.subscribed[0].id != first.id);

  // It asks periodically, in case no notification comes.
  watcher.more.clear();
  t.world.plane().advance(actors::defaults::stream_heartbeat + seconds{1});
  CHECK(std::any_of(watcher.more.begin(), watcher.more.end(), [&](const auto& m) {
    return m.id == watcher.subscribed[0].id && m.credit == 0;
  }));

  t.watcher.say(t.session_actor, actors::watch_ended{watcher.subscribed[0].id,
                                                     {persistence::errc::compacted, "gone"}});
  REQUIRE(t.made.node->heard.size() == 1);
  CHECK(t.made.node->heard[0].watch_ended().stream() == 1);
  CHECK_FALSE(t.made.node->heard[0].watch_ended().refused());
}

TEST_CASE("a node with more streams than the bound loses its session", "[link]") {
  watched_session t;
  REQUIRE(t.made.node->say_all([&](auto& frame) {
    for (std::uint64_t i = 1; i <= actors::link_defaults::streams + 1; ++i) {
      auto& subscription = *frame.add_items()->mutable_subscribe();
      subscription.set_stream(i);
      subscription.set_prefix(api::kind_of<Node>().key({}, "n0"));
    }
  }));
  t.world.plane().settle();
  CHECK(t.watcher.heard->subscribed.size() == actors::link_defaults::streams);
  CHECK_THAT(t.made.node->end, Contains("more than 10000 streams"));
}

TEST_CASE("a node whose key is removed learns that it was removed", "[link]") {
  one_node t;
  t.plane.change<Node>({}, "n0", [](Node& n) { n.mutable_metadata()->clear_annotations(); });
  t.plane.settle();
  CHECK_THAT(t.end(), Contains("node n0 was removed from this cluster"));
  const auto heard = t.heard();
  REQUIRE_FALSE(heard.empty());
  CHECK_THAT(heard.back().left().reason(), Contains("node n0 was removed from this cluster"));
  CHECK_FALSE(t.plane.plane().links().table().connected("n0"));
}

TEST_CASE("the server sets the author of a node's writes and the owner of its Lease", "[link]") {
  one_node t;
  t.plane.create(pod_named("web", "n0"));
  const auto key = api::kind_of<Pod>().key("default", "web");
  const auto pod = t.plane.find<Pod>("default", "web");
  t.say([&](auto& item) {
    auto content = pod->copy_as<Pod>();
    content->mutable_status()->set_message("m");
    persistence::transaction transaction;
    transaction.preconditions.push_back({key, pod->revision()});
    transaction.mutations.push_back({key, &pod->kind(), std::move(content)});
    transaction.cause.author = "admin";
    actors::write_commit(*item.mutable_commit(), 1, transaction);
  });
  REQUIRE(t.plane.get<Pod>("default", "web").status().message() == "m");
  CHECK(t.last_cause(key).author == "kubelet/n0");
  t.say([&](auto& item) {
    actors::evict eviction{.pod_key = key, .pod_uid = pod->meta().uid()};
    eviction.cause.author = "admin";
    actors::write_evict(*item.mutable_evict(), 2, eviction);
  });
  REQUIRE(t.plane.find<Pod>("default", "web")->meta().has_deletion_timestamp());
  CHECK(t.last_cause(key).author == "kubelet/n0");

  const auto lease = api::kind_of<Lease>().key("kube-node-lease", "n0");
  t.say([&](auto& item) {
    auto content = std::make_unique<Lease>();
    content->mutable_metadata()->set_name("n0");
    content->mutable_metadata()->set_namespace_("kube-node-lease");
    persistence::transaction transaction;
    transaction.preconditions.push_back({lease, 0});
    transaction.mutations.push_back({lease, &api::kind_of<Lease>(), std::move(content)});
    actors::write_commit(*item.mutable_commit(), 3, transaction);
  });
  const auto made = t.plane.store().read().find(lease);
  REQUIRE(made);
  CHECK_FALSE(made->meta().uid().empty());
  CHECK(made->meta().has_creation_timestamp());
}

TEST_CASE("requests of a node beyond the limit are refused, and it continues when they are done",
          "[link]") {
  one_node t;
  constexpr std::uint64_t most = actors::link_defaults::requests_under_way * 2;
  const auto key = api::kind_of<Node>().key({}, "n0");
  const auto fill = [&](auto& item, std::uint64_t id) {
    const auto node = t.plane.find<Node>({}, "n0");
    auto content = node->copy_as<Node>();
    content->mutable_status()->mutable_node_info()->set_boot_id(std::to_string(id));
    persistence::transaction transaction;
    transaction.preconditions.push_back({key, node->revision()});
    transaction.mutations.push_back({key, &node->kind(), std::move(content)});
    actors::write_commit(*item.mutable_commit(), id, transaction);
  };
  REQUIRE(t.made.node->say_all([&](auto& frame) {
    for (std::uint64_t id = 1; id <= most + 1; ++id)
      fill(*frame.add_items(), id);
  }));
  t.plane.settle();
  const auto heard = t.heard();
  REQUIRE(heard.size() == most + 1);
  CHECK(heard[0].commit_done().id() == most + 1);
  CHECK_THAT(heard[0].commit_done().error().message(), Contains("requests of node n0"));
  t.say([&](auto& item) { fill(item, most + 2); });
  const auto after = t.heard();
  REQUIRE(after.size() == 1);
  CHECK(after[0].commit_done().has_committed());
}

TEST_CASE("an event of a node says no more than an event may, in whole characters", "[link]") {
  one_node t;
  t.plane.create(pod_named("web", "n0"));
  const auto pod = t.plane.find<Pod>("default", "web");
  std::string accents;
  for (int i = 0; i < 1'000; ++i)
    accents += "\xc3\xa9";
  t.say([&](auto& item) {
    auto& event = *item.mutable_record_event();
    event.set_key(api::kind_of<Pod>().key("default", "web"));
    event.set_uid(pod->meta().uid());
    event.set_reason("x" + accents);
    event.set_message("y" + accents);
  });
  t.plane.advance(seconds{5});
  const auto events = t.plane.list<Event>();
  const auto found = std::find_if(events.begin(), events.end(), [](const auto& each) {
    return each->template as<Event>().reason().starts_with("x");
  });
  REQUIRE(found != events.end());
  CHECK((*found)->as<Event>().reason() == "x" + accents.substr(0, 126));
  CHECK((*found)->as<Event>().message() == "y" + accents.substr(0, 1'022));
}

TEST_CASE("a reader's credit reaches its own log, and parts beyond the credit end the session",
          "[link]") {
  one_node t;
  actor_of_test one{t.plane.simulation(), "one"}, two{t.plane.simulation(), "two"};
  t.open_log(one, 7, 1);
  t.open_log(two, 7, 1);
  const auto opened = t.heard();
  REQUIRE(opened.size() == 2);
  const auto first = opened[0].open_log().ask(), second = opened[1].open_log().ask();
  two.say(t.session(), actors::more_log{7, 2});
  two.say(t.session(), actors::finish_log{7});
  const auto ordered = t.heard();
  REQUIRE(ordered.size() == 2);
  CHECK(ordered[0].more_log().ask() == second);
  CHECK(ordered[0].more_log().credit() == 2);
  CHECK(ordered[1].finish_log().ask() == second);

  t.send_part(first, "a", true);
  t.send_part(first, "after its end", true);
  REQUIRE(one.heard->parts.size() == 1);
  CHECK(one.heard->parts[0].id == 7);
  CHECK(one.heard->parts[0].text == "a");
  for (const auto* text : {"b", "c", "d"})
    t.send_part(second, text);
  CHECK(t.end().empty());
  t.send_part(second, "one too many");
  CHECK_THAT(t.end(), Contains("more of a log than was asked for"));
  REQUIRE(two.heard->parts.size() == 4);
  CHECK(two.heard->parts[3].ended);
  CHECK_THAT(two.heard->parts[3].problem, Contains("the link to node n0 was lost"));
}

TEST_CASE("a reader that ends closes its log, and one of a node that is not there hears why",
          "[link]") {
  one_node t;
  actor_of_test reader{t.plane.simulation(), "reader"}, other{t.plane.simulation(), "other"};
  t.open_log(other, 1, 1, "n1");
  REQUIRE(other.heard->parts.size() == 1);
  CHECK(other.heard->parts[0].ended);
  CHECK(other.heard->parts[0].problem == "node n1 is not connected");
  t.open_log(reader, 1, 1);
  const auto ask = t.heard().at(0).open_log().ask();
  reader.end();
  t.plane.advance(actors::link_defaults::sweep + seconds{1});
  const auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].close_log().ask() == ask);
}

TEST_CASE("questions to a node are bounded, are forgotten in time, and end with its session",
          "[link]") {
  one_node t;
  actor_of_test requester{t.plane.simulation(), "asker"};
  const auto ask = [&](const std::string& node, seconds limit) {
    requester.ask(t.links(), actors::ask_console{node, {"actors", false, "u"}}, limit,
                  &told::views);
  };
  ask("n1", seconds{10});
  REQUIRE(requester.heard->views.size() == 1);
  CHECK(requester.heard->views[0].status == 0);
  CHECK(requester.heard->views[0].body == "node n1 is not connected");
  constexpr auto most = actors::link_defaults::served_requests;
  for (std::size_t i = 0; i <= most; ++i)
    ask("n0", seconds{10});
  CHECK(t.heard().size() == most);
  REQUIRE(requester.heard->views.size() == 2);
  CHECK_THAT(requester.heard->views[1].body, Contains("too many requests to node n0"));
  t.plane.advance(actors::link_defaults::request_limit + actors::link_defaults::sweep);
  CHECK(requester.heard->failed.size() == most);

  ask("n0", seconds{10});
  const auto question = t.heard();
  REQUIRE(question.size() == 1);
  CHECK(question[0].ask_console().target() == "actors");
  t.made.line.cut();
  t.plane.settle();
  REQUIRE(requester.heard->views.size() == 3);
  CHECK_THAT(requester.heard->views[2].body, Contains("the link to node n0 was lost"));
}

TEST_CASE("the listener is requested once, by the first node that has joined", "[link]") {
  cluster plane{1, {.plane = {.controllers = false}}};
  int wanted = 0;
  plane.plane().links().await_nodes([&] {
    ++wanted;
    return true;
  });
  add_node(plane, "beside-the-store");
  plane.settle();
  CHECK(wanted == 0);
  const auto join = [&](const std::string& name) {
    plane.change<Node>({}, name, [&](Node& n) {
      (*n.mutable_metadata()->mutable_annotations())["troupe.dev/node-key"] = "sha256:" + name;
    });
    plane.settle();
  };
  join("beside-the-store");
  CHECK(wanted == 1);
  add_node(plane, "n1");
  join("n1");
  plane.crash("supervisor", "links");
  plane.advance(seconds{60});
  CHECK(wanted == 1);
}

TEST_CASE("a listener that cannot be started is requested again", "[link]") {
  cluster plane{1, {.plane = {.controllers = false}}};
  int wanted = 0;
  plane.plane().links().await_nodes([&] { return ++wanted == 3; });
  add_node(plane, "n0");
  plane.change<Node>({}, "n0", [&](Node& n) {
    (*n.mutable_metadata()->mutable_annotations())["troupe.dev/node-key"] = "sha256:n0";
  });
  plane.settle();
  CHECK(wanted == 1);
  plane.crash("supervisor", "links");
  plane.advance(seconds{60});
  CHECK(wanted == 3);
}

}  // namespace troupe::test
