// A control plane that starts and stops leading at random moments, under load. Once it leads
// permanently, the state matches the objects and no action was done twice; while it does not lead,
// it serves and takes no action of its own.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/replication/pod_record.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/informer.hpp"
#include "api/schema/core_config.pb.h"
#include "runtime/defaults.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::replication::read_pod;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::core::v1::ConfigMap;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using std::chrono::seconds;

namespace {

// The actors that run on every control plane.
const std::set<std::string> serving = {"watcher/watcher",
                                       "writer/writer",
                                       "recorder/recorder",
                                       "supervisor/links",
                                       "store-steps/store-steps",
                                       "node-capacity/node-capacity",
                                       "map-watcher/map-watcher",
                                       "token-provider/token-provider",
                                       "usage-collector/usage-collector"};

// Watches config maps, as a client does.
class map_watcher : public actors::informer {
 public:
  map_watcher(runtime::actor_ref watcher, std::shared_ptr<std::set<std::string>> seen)
      : informer{std::move(watcher)}, seen_{std::move(seen)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&map_watcher::on_watch_events, &map_watcher::on_watch_ended);
    return table;
  }
  void started() override {
    follow(api::kind_of<ConfigMap>().prefix(), [this](const actors::watch_events& m) {
      for (const auto& event : m.events)
        if (event.object) seen_->insert(event.object->meta().name());
    });
  }

 private:
  std::shared_ptr<std::set<std::string>> seen_;
};

class leading_run {
 public:
  leading_run(std::uint64_t seed, bool far) : random_{seed}, cluster_{seed, options(far)} {
    cluster_.simulation().system().spawn(
        {.kind = "map-watcher", .name = "map-watcher"},
        runtime::make<map_watcher>(cluster_.plane().core_actors().watcher, seen_));
    for (const char* node : {"n0", "n1"})
      add_node(cluster_, node);
    note(cluster_.create(replica_set("steady", 1, {{"app", "steady"}})), 1);
    note(cluster_.create(replication_controller("old", 1, {{"app", "old"}})), 1);
    note(cluster_.create(replica_set("busy", 3, {{"app", "busy"}})), 3);
    cluster_.create(deployment("web", 2, "one"));
  }

  void run(int terms) {
    for (int term = 0; term < terms; ++term) {
      cluster_.simulation().faults({.crash = 0.003, .delay = 0.1, .may_crash = {}});
      work();
      cluster_.plane().stop_leading();
      if (pick(3) == 0) work();
      if (pick(8) == 0) rest();
      cluster_.plane().start_leading();
    }
    cluster_.simulation().faults({});
    // Longer than the longest restart back-off and every retry.
    for (int round = 0; round < 14; ++round) {
      pass(seconds{10});
      run_kubelets(cluster_);
    }
    pass(seconds{20});
    check();
    check_history();
  }

 private:
  static cluster_options options(bool far) {
    cluster_options all;
    all.plane.conflict_chance = 0.05;
    all.far = far;
    return all;
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  void note(const api::object_ptr& owner, int replicas) { most_[owner->meta().uid()] = replicas; }

  void pass(runtime::duration time) {
    for (const char* node : {"n0", "n1"})
      renew_lease(cluster_, node);
    cluster_.advance(time);
    look();
  }

  // -- load ---------------------------------------------------------------------------------------

  // Mostly short, so that a term ends at any point of its start, sometimes long.
  void work() {
    act();
    for (auto steps = pick(pick(4) == 0 ? 600 : 60); steps > 0; --steps) {
      cluster_.simulation().step();
      look();
    }
    if (pick(4) != 0) return;
    run_kubelets(cluster_, [this](const Pod&) { return pick(3) == 0; });
    pass(std::chrono::milliseconds{pick(3'000)});
  }

  // A client's read delivers all pending changes, so most terms have none.
  void act() {
    switch (pick(12)) {
      case 0:
        return grow<ReplicaSet>("steady");
      case 1:
        return grow<ReplicationController>("old");
      case 2:
        return resize(pick(2) == 0 ? 3 : 6);
      case 3:
        return hurt_pod();
      case 4:
      case 5:
        return add_set();
      default:
        return;
    }
  }

  void add_set() {
    const auto name = fmt::format("set{}", sets_.size());
    sets_.push_back(cluster_.create(replica_set(name, 2, {{"app", name}}))->meta().uid());
    most_[sets_.back()] = 2;
  }

  template <class T>
  void grow(const std::string& name) {
    const auto replicas = cluster_.get<T>("default", name).spec().replicas() + 1;
    if (replicas > 8) return;
    note(cluster_.find<T>("default", name), replicas);
    cluster_.change<T>("default", name,
                       [&](T& changed) { changed.mutable_spec()->set_replicas(replicas); });
  }

  void resize(int replicas) {
    auto& most = most_[cluster_.find<ReplicaSet>("default", "busy")->meta().uid()];
    most = std::max(most, replicas);
    cluster_.change<ReplicaSet>("default", "busy", [&](ReplicaSet& changed) {
      changed.mutable_spec()->set_replicas(replicas);
    });
  }

  void hurt_pod() {
    for (const auto& pod : cluster_.list<Pod>("default"))
      if (pod->meta().name().starts_with("busy-") && pick(2) == 0)
        return cluster_.remove<Pod>("default", pod->meta().name(), pick(2) == 0 ? 0 : -1);
  }

  // -- what must hold -----------------------------------------------------------------------------

  // At each revision no owner has more pods than were ever desired.
  void look() {
    const auto state = cluster_.store().read();
    if (state.at() == looked_) return;
    looked_ = state.at();
    std::map<std::string, int> active;
    state.scan(api::kind_of<Pod>().prefix(), {}, [&](std::string_view, const api::object_ptr& p) {
      if (read_pod(p).active()) ++active[std::string{actors::controller_uid(*p)}];
      return true;
    });
    for (const auto& [uid, most] : most_)
      if (active[uid] > most)
        FAIL("revision " << looked_ << ": " << uid << " has " << active[uid]
                         << " pods and was asked for " << most);
  }

  // Without a leader: all leading actors have ended, nothing changes, and clients are served.
  void rest() {
    cluster_.simulation().faults({});
    cluster_.settle();
    cluster_.advance(runtime::defaults::restart_backoff_max);  // crashed actors restart
    for (const auto& each : others())
      FAIL_CHECK(each << " has outlived the term");
    // Delivers changes in transit, whose actor may have crashed as well.
    cluster_.catch_up();
    cluster_.settle();
    const auto before = cluster_.store().read().at();
    cluster_.advance(seconds{30});
    INFO("changed since: " << changes_after(before));
    CHECK(cluster_.store().read().at() == before);

    const auto name = fmt::format("note{}", before);
    ConfigMap map;
    map.mutable_metadata()->set_name(name);
    cluster_.create(map);
    CHECK(cluster_.find<ConfigMap>("default", name));
    cluster_.settle();
    CHECK(seen_->contains(name));
    const auto heard = heartbeat();
    post_ready(cluster_, "n0", "True");
    CHECK(heartbeat() > heard);
    renew_lease(cluster_, "n0");
  }

  std::string changes_after(persistence::revision at) const {
    std::string text;
    if (const auto all = cluster_.store().changes(at, 10))
      for (const auto& each : *all)
        text += each.key + " by " + each.cause.author + "; ";
    return text;
  }

  std::set<std::string> others() const {
    std::set<std::string> found;
    cluster_.plane().system().actors().each([&](const runtime::actor_info& info) {
      const auto name = info.kind + "/" + info.name;
      if (!serving.contains(name)) found.insert(name);
    });
    return found;
  }

  std::int64_t heartbeat() const {
    const auto node = cluster_.get<Node>({}, "n0");
    return actors::find_condition(node.status().conditions(), "Ready")
        ->last_heartbeat_time()
        .seconds();
  }

  template <class T>
  void check_owner(const std::string& name) {
    const auto owner = cluster_.get<T>("default", name);
    INFO(name << " asks for " << owner.spec().replicas());
    CHECK(active_pods(cluster_, owner.metadata().uid()) ==
          static_cast<std::size_t>(owner.spec().replicas()));
    CHECK(owner.status().ready_replicas() == owner.spec().replicas());
    CHECK(owner.status().observed_generation() == owner.metadata().generation());
  }

  void check() {
    check_owner<ReplicaSet>("steady");
    check_owner<ReplicationController>("old");
    check_owner<ReplicaSet>("busy");
    CHECK(cluster_.get<Deployment>("default", "web").status().ready_replicas() == 2);
    CHECK(cluster_.count<ReplicaSet>() == 3 + sets_.size());
    std::map<std::string, std::size_t> kinds;
    cluster_.plane().system().actors().each(
        [&](const runtime::actor_info& info) { ++kinds[info.kind]; });
    CHECK(kinds["pod"] == cluster_.count<Pod>());
    CHECK(kinds["minion"] == 2);
    CHECK(kinds["replicaset"] == 3 + sets_.size());
    CHECK(kinds["replicationcontroller"] == 1);
    CHECK(kinds["deployment"] == 1);
    CHECK(kinds["scheduler"] == 1);
    CHECK(kinds["term-writer"] == 1);
  }

  // Owners that only grew created each pod once; each pod was bound once; there is one replica set.
  void check_history() {
    const auto log = cluster_.store().changes(0, 1'000'000);
    REQUIRE(log);
    std::map<std::string, int> made;  // by owner
    for (const auto& each : *log) {
      if (each.type == persistence::change_type::created)
        ++made[std::string{actors::controller_uid(*each.object)}];
      if (&each.object->kind() != &api::kind_of<Pod>() || !each.previous) continue;
      const auto& before = each.previous->as<Pod>().spec().node_name();
      if (!before.empty() && before != each.object->as<Pod>().spec().node_name())
        FAIL_CHECK("revision " << each.at << ": " << each.key << " was bound again");
    }
    for (const auto& set : sets_)
      CHECK(made[set] == 2);
    const auto steady = cluster_.get<ReplicaSet>("default", "steady");
    CHECK(made[steady.metadata().uid()] == steady.spec().replicas());
    const auto old = cluster_.get<ReplicationController>("default", "old");
    CHECK(made[old.metadata().uid()] == old.spec().replicas());
    CHECK(made[cluster_.get<Deployment>("default", "web").metadata().uid()] == 1);
  }

  std::mt19937_64 random_;
  std::shared_ptr<std::set<std::string>> seen_ = std::make_shared<std::set<std::string>>();
  mutable cluster cluster_;
  std::map<std::string, int> most_;  // the most replicas ever desired, by uid
  std::vector<std::string> sets_;    // uids of sets that are never scaled
  persistence::revision looked_ = 0;
};

constexpr int terms = 50;  // for each seed

}  // namespace

TEST_CASE("a control plane that ceases to lead at any moment does nothing twice",
          "[leading][seeds]") {
  for_each_seed(20, [](std::uint64_t seed) { leading_run{seed, false}.run(terms); });
}

TEST_CASE("a control plane that ceases to lead does nothing twice over a remote store",
          "[leading][seeds][far]") {
  for_each_seed(20, [](std::uint64_t seed) { leading_run{seed, true}.run(terms); });
}

TEST_CASE("a new leader waits for its predecessor's pending writes", "[leading][far]") {
  for_each_seed(20, [](std::uint64_t seed) {
    cluster_options options;
    options.far = true;
    cluster c{seed, options};
    auto& system = c.simulation().system();
    add_node(c, "n0");
    const auto web = c.create(replica_set("web", 3, {{"app", "web"}}));
    const auto steps = c.actor("store-steps", "store-steps");
    REQUIRE(system.pause(steps, seconds{5}));
    c.settle();
    REQUIRE(c.store().stats().queued > 0);
    c.plane().stop_leading();
    c.plane().start_leading();
    c.settle();
    CHECK(c.store().read().count(api::kind_of<Pod>().prefix()) == 0);
    REQUIRE(system.resume(steps));
    c.settle();
    c.advance(seconds{30});
    CHECK(active_pods(c, web->meta().uid()) == 3);
    int made = 0;
    const auto log = c.store().changes(0, 100'000);
    REQUIRE(log);
    for (const auto& each : *log)
      made += each.type == persistence::change_type::created &&
              &each.object->kind() == &api::kind_of<Pod>();
    CHECK(made == 3);
  });
}

TEST_CASE("a controller's write from the end of its term is refused, or known to the next leader",
          "[leading]") {
  cluster c{1};
  auto& system = c.simulation().system();
  add_node(c, "n0");
  // The request for the pods waits in the mailbox of a writer whose term ends.
  const auto writer = c.actor("term-writer", "term-writer");
  REQUIRE(system.pause(writer, seconds{5}));
  const auto web = c.create(replica_set("web", 3, {{"app", "web"}}));
  c.settle();
  CHECK(c.count<Pod>() == 0);
  c.plane().stop_leading();
  CHECK_FALSE(c.plane().leads());
  c.plane().start_leading();
  c.plane().start_leading();
  REQUIRE(c.plane().leads());
  system.resume(writer);
  c.settle();
  CHECK(active_pods(c, web->meta().uid()) == 3);
  CHECK(c.count<Pod>() == 3);
  CHECK_FALSE(c.actor("term-writer", "term-writer") == writer);
}

}  // namespace troupe::test
