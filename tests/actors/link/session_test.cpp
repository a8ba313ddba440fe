// Joined nodes behind links that break and reconnect: their events, their permissions, and that the
// cluster converges to its objects.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "actors/core/condition.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/raw_ends.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::coordination::v1::Lease;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::core::v1::Secret;
using Catch::Matchers::Contains;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

bool is_ready(const Pod& pod) {
  const auto* ready = actors::find_condition(pod.status().conditions(), "Ready");
  return ready != nullptr && ready->status() == "True";
}

bool node_ready(cluster& plane, const std::string& node) {
  const auto object = plane.find<Node>({}, node);
  if (!object) return false;
  const auto* ready = actors::find_condition(object->as<Node>().status().conditions(), "Ready");
  return ready != nullptr && ready->status() == "True";
}

void join(joined_cluster& world, const std::string& node) {
  world.add(node);
  world.start(node);
  REQUIRE(world.connect(node));
  world.start_minion(node);
}

template <class F>
void say(cluster& plane, raw_node& node, F fill) {
  REQUIRE(node.say(fill));
  plane.settle();
}

}  // namespace

TEST_CASE("pods that are bound to a joined node run there and say so", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  join(world, "n0");
  REQUIRE(plane.run_until([&] { return node_ready(plane, "n0"); }));
  CHECK(plane.find<Lease>("kube-node-lease", "n0"));
  plane.create(pod_named("web"));
  REQUIRE(plane.run_until([&] { return is_ready(plane.get<Pod>("default", "web")); }));
  CHECK(plane.get<Pod>("default", "web").spec().node_name() == "n0");
  const auto table = plane.plane().links().table().list();
  REQUIRE(table.size() == 1);
  CHECK(table[0].node == "n0");
  CHECK(table[0].stats.frames_received > 0);
  plane.remove<Pod>("default", "web");
  CHECK(plane.run_until([&] { return !plane.find<Pod>("default", "web"); }));
}

TEST_CASE("the history names the node of a write over a link", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  join(world, "n0");
  plane.create(pod_named("web", "n0"));
  REQUIRE(plane.run_until([&] { return is_ready(plane.get<Pod>("default", "web")); }));
  const auto changes = plane.store().changes(0, 10'000);
  REQUIRE(changes);
  const auto last = std::find_if(changes->rbegin(), changes->rend(), [](const auto& c) {
    return c.key == "/registry/pods/default/web";
  });
  REQUIRE(last != changes->rend());
  CHECK(last->cause.author == "kubelet/n0");
  CHECK(last->cause.trigger == last->previous->revision());
}

TEST_CASE("a status that was written while the link was down arrives after it", "[link]") {
  // Breaks the link after so many messages: before the pod arrives, before its answer, after it.
  for (int steps = 1; steps < 40; steps += 2) {
    INFO("cut after " << steps << " messages");
    joined_cluster world{1};
    auto& plane = world.plane();
    join(world, "n0");
    REQUIRE(plane.run_until([&] { return node_ready(plane, "n0"); }));
    plane.settle();
    plane.create(pod_named("web", "n0"));
    for (int i = 0; i < steps; ++i)
      plane.simulation().step();
    world.cut("n0");
    plane.advance(seconds{5});
    REQUIRE(world.connect("n0"));
    CHECK(plane.run_until([&] { return is_ready(plane.get<Pod>("default", "web")); }, seconds{3}));
  }
}

TEST_CASE("events of a node without a link arrive later, with their original times", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  join(world, "n0");
  const auto web = plane.create(pod_named("web", "n0"));
  const auto noisy = plane.create(pod_named("noisy", "n0"));
  REQUIRE(plane.run_until([&] { return node_ready(plane, "n0"); }));
  const auto record = [&](const api::object_ptr& about, std::string message) {
    world.core_actors_of("n0").recorder.tell(actors::record_event{.about = about,
                                                                  .warning = true,
                                                                  .reason = "Unhealthy",
                                                                  .message = std::move(message),
                                                                  .component = "kubelet"});
    plane.settle();
  };
  const auto told = [&](const std::string& message) {
    for (const auto& each : plane.list<Event>())
      if (each->as<Event>().message() == message) return each->as<Event>();
    return Event{};
  };
  world.cut("n0");
  record(web, "forgotten");
  const std::string much(10'000, '.');
  for (int i = 0; i < 120; ++i)
    record(noisy, std::to_string(i) + much);
  const auto then = actors::seconds_of(plane.now());
  record(web, "refused");
  plane.advance(seconds{3});
  record(web, "refused");
  plane.advance(seconds{20});
  REQUIRE(world.connect("n0"));
  plane.settle();
  CHECK(told("forgotten").count() == 0);
  CHECK(told("refused").count() == 2);
  CHECK(told("refused").first_timestamp().seconds() == then);
  CHECK(told("refused").last_timestamp().seconds() == then + 3);

  record(web, "refused");
  CHECK(told("refused").count() == 3);
  CHECK(told("refused").last_timestamp().seconds() == then + 23);
}

TEST_CASE("a removed node learns of it and is never admitted again", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  join(world, "n0");
  REQUIRE(plane.run_until([&] { return node_ready(plane, "n0"); }));
  plane.remove<Node>({}, "n0");
  REQUIRE(plane.run_until([&] { return !world.node_removed("n0").empty(); }));
  CHECK_THAT(world.node_removed("n0"),
             Contains("node n0 was removed from this cluster: join it again with a new token"));
  CHECK_FALSE(plane.plane().links().table().connected("n0"));
  CHECK_FALSE(world.connect("n0"));
  CHECK_FALSE(plane.find<Node>({}, "n0"));
}

TEST_CASE("the newest session of a node takes the place of the older one", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  const auto [first, old_line] = connect_raw_node(plane, "n0");
  CHECK(plane.plane().links().table().connected("n0"));
  const auto [second, line] = connect_raw_node(plane, "n0");
  CHECK_FALSE(first->end.empty());
  CHECK(second->end.empty());
  CHECK(plane.plane().links().table().connected("n0"));
  line.cut();
  plane.settle();
  CHECK_FALSE(plane.plane().links().table().connected("n0"));
}

TEST_CASE("requests beyond a node's permissions are refused with a reason", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  world.add("n1");
  Secret secret;
  secret.mutable_metadata()->set_name("s");
  plane.create(secret);
  plane.create(pod_named("other", "n1"));
  const auto [node, line] = connect_raw_node(plane, "n0");

  say(plane, *node, [](auto& item) {
    item.mutable_subscribe()->set_stream(1);
    item.mutable_subscribe()->set_prefix("/registry/secrets/");
    item.mutable_subscribe()->set_credit(10);
  });
  REQUIRE(node->heard.size() == 1);
  CHECK(node->heard[0].watch_ended().refused());
  CHECK_THAT(node->heard[0].watch_ended().reason().message(),
             Contains("no pod of node n0 refers to"));

  node->heard.clear();
  say(plane, *node, [&](auto& item) {
    auto content = plane.find<Pod>("default", "other")->copy_as<Pod>();
    content->mutable_status()->set_phase("Failed");
    persistence::transaction transaction;
    const auto key = api::kind_of<Pod>().key("default", "other");
    transaction.preconditions.push_back({key, plane.find<Pod>("default", "other")->revision()});
    transaction.mutations.push_back({key, &api::kind_of<Pod>(), std::move(content)});
    actors::write_commit(*item.mutable_commit(), 7, transaction);
  });
  REQUIRE(node->heard.size() == 1);
  CHECK(node->heard[0].commit_done().id() == 7);
  CHECK_THAT(node->heard[0].commit_done().error().message(), Contains("not bound to node n0"));

  node->heard.clear();
  say(plane, *node, [&](auto& item) {
    actors::write_remove(*item.mutable_remove(), 8,
                         {.key = "/registry/pods/default/other",
                          .uid = plane.get<Pod>("default", "other").metadata().uid()});
  });
  REQUIRE(node->heard.size() == 1);
  CHECK(node->heard[0].command_done().error().code() == 403);

  say(plane, *node, [&](auto& item) {
    auto& event = *item.mutable_record_event();
    event.set_key("/registry/pods/default/other");
    event.set_uid(plane.get<Pod>("default", "other").metadata().uid());
    event.set_reason("Forged");
  });
  for (const auto& event : plane.list<Event>())
    CHECK(event->as<Event>().reason() != "Forged");

  REQUIRE(line.one->send("\xff\xff no frame"));
  plane.settle();
  CHECK_THAT(node->end, Contains("is malformed"));
}

TEST_CASE("a node sees a secret as long as a pod of it uses the secret", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  Secret secret;
  secret.mutable_metadata()->set_name("s");
  plane.create(secret);
  auto pod = pod_named("web", "n0");
  auto& from = *pod.mutable_spec()->mutable_containers(0)->add_env_from();
  from.mutable_secret_ref()->mutable_local_object_reference()->set_name("s");
  plane.create(pod);
  const auto [node, line] = connect_raw_node(plane, "n0");
  say(plane, *node, [](auto& item) {
    item.mutable_subscribe()->set_stream(1);
    item.mutable_subscribe()->set_prefix("/registry/secrets/default/s");
    item.mutable_subscribe()->set_credit(10);
  });
  REQUIRE(node->heard.size() >= 1);
  CHECK(node->heard[0].watch_events().events_size() == 1);
  node->heard.clear();
  plane.remove<Pod>("default", "web", 0);
  plane.settle();
  REQUIRE(node->heard.size() == 1);
  CHECK(node->heard[0].watch_ended().refused());
  node->heard.clear();
  plane.change<Secret>("default", "s",
                       [](Secret& s) { (*s.mutable_data())["key"] = "not for n0"; });
  plane.settle();
  CHECK(node->heard.empty());
}

TEST_CASE("a node that does not read loses its session, not the control plane its memory",
          "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  const auto [node, line] = connect_raw_node(plane, "n0");
  node->deaf = true;
  say(plane, *node, [](auto& item) {
    auto& subscription = *item.mutable_subscribe();
    subscription.set_stream(1);
    subscription.set_prefix("/registry/pods/");
    subscription.set_on_node("n0");
    subscription.set_credit(10'000);
  });
  auto pod = pod_named("big", "n0");
  (*pod.mutable_metadata()->mutable_annotations())["text"] = std::string(200'000, 'x');
  plane.create(pod);
  const auto& links = plane.plane().links().table();
  for (int i = 0; i < 400 && links.connected("n0"); ++i) {
    plane.change<Pod>("default", "big",
                      [&](Pod& p) { p.mutable_status()->set_message(std::to_string(i)); });
    plane.advance(milliseconds{50});
  }
  CHECK_FALSE(links.connected("n0"));
  std::size_t unread_bytes = 0;
  while (node->end.empty()) {
    const auto read = std::exchange(node->unread, {});
    REQUIRE_FALSE(read.empty());
    for (const auto& each : read)
      unread_bytes += each.bytes().size();
  }
  CHECK_THAT(node->end, Contains("does not read"));
  CHECK(unread_bytes < 2 * actors::link_defaults::backlog_limit_bytes);
}

namespace {

ReplicationController six_replicas() {
  ReplicationController made;
  made.mutable_metadata()->set_name("web");
  auto& spec = *made.mutable_spec();
  spec.set_replicas(6);
  (*spec.mutable_selector())["app"] = "web";
  auto& pod = *spec.mutable_template_();
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  *pod.mutable_spec() = pod_named("x").spec();
  for (const auto* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    auto& toleration = *pod.mutable_spec()->add_tolerations();
    toleration.set_key(key);
    toleration.set_operator_("Exists");
    toleration.set_effect("NoExecute");
    toleration.set_toleration_seconds(2);
  }
  return made;
}

}  // namespace

TEST_CASE("nodes behind links that come and go converge to the specified state", "[link]") {
  for_each_seed(25, [](std::uint64_t seed) {
    joined_cluster world{seed, {.plane = {.node_grace = seconds{5}}}};
    auto& plane = world.plane();
    std::mt19937_64 random{seed};
    const auto pick = [&](std::uint64_t below) { return random() % below; };
    const std::vector<std::string> nodes{"n0", "n1", "n2"};
    std::map<std::string, bool> linked;
    for (const auto& node : nodes) {
      join(world, node);
      linked[node] = true;
    }
    plane.create(six_replicas());
    REQUIRE(plane.run_until([&] { return plane.count<Pod>("default") == 6; }));
    runtime::fault_plan faults;
    faults.delay = 0.1;
    faults.crash = 0.001;
    faults.may_crash = [](const std::string& kind, const std::string& name) {
      return kind == "gateway" || kind == "watcher" || kind == "writer" ||
             kind == "simulated-minion" || name == "links";
    };
    plane.simulation().faults(faults);
    for (int i = 0; i < 60; ++i) {
      const auto& node = nodes[pick(nodes.size())];
      if (pick(2) == 0) {
        world.cut(node);
        linked[node] = false;
      } else {
        linked[node] = world.connect(node);
      }
      if (pick(6) == 0) plane.advance(seconds{pick(20)});
      for (auto steps = pick(200); steps > 0; --steps)
        plane.simulation().step();
      std::size_t counted = 0;
      for (const auto& pod : plane.list<Pod>("default"))
        if (is_ready(pod->as<Pod>()) && !pod->meta().has_deletion_timestamp()) ++counted;
      CHECK(counted <= 6);
    }
    plane.simulation().faults({});
    plane.advance(seconds{40});  // restarts with back-off
    for (const auto& node : nodes)
      REQUIRE(world.connect(node));
    const bool converged = plane.run_until(
        [&] {
          const auto pods = plane.list<Pod>("default");
          return pods.size() == 6 &&
                 std::all_of(pods.begin(), pods.end(),
                             [](const auto& pod) {
                               return is_ready(pod->template as<Pod>()) &&
                                      !pod->meta().has_deletion_timestamp();
                             }) &&
                 std::all_of(nodes.begin(), nodes.end(),
                             [&](const auto& node) { return node_ready(plane, node); });
        },
        seconds{60});
    if (!converged)
      for (const auto& pod : plane.list<Pod>("default"))
        UNSCOPED_INFO(pod->meta().name()
                      << " " << pod->as<Pod>().spec().node_name() << " "
                      << pod->as<Pod>().status().phase() << " ready " << is_ready(pod->as<Pod>())
                      << " ends " << pod->meta().has_deletion_timestamp());
    CHECK(converged);
  });
}

}  // namespace troupe::test
