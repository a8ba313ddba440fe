// ReplicationControllers and ReplicaSets under random work while actors crash, messages are late
// and transactions conflict. A controller must never have more pods than it was ever asked for;
// after the faults end, each has exactly its desired number, every pod has the right owner, and
// no actor makes further changes.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <sstream>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/controller_type.hpp"
#include "actors/controllers/replication/pod_record.hpp"
#include "actors/controllers/replication/replica_owner.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::replication::read_pod;
using actors::replication::replica_owner;
using api::apps::v1::ReplicaSet;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using std::chrono::seconds;

namespace {

constexpr int kinds = 2;
constexpr int names = 3;

class random_run {
 public:
  // With every other seed pods change owners: labels and selectors change, pods are orphaned.
  // Then a controller may have more pods than desired for a while.
  random_run(std::uint64_t seed, bool far)
      : random_{seed}, pods_change_hands_{seed % 2 == 0}, cluster_{seed, options(far)} {
    for (const char* node : {"n0", "n1"})
      add_node(cluster_, node);
  }

  void run() {
    cluster_.simulation().faults({.crash = 0.004, .delay = 0.1, .may_crash = {}});
    for (int i = 0; i < 80; ++i) {
      act();
      for (auto steps = pick(80); steps > 0; --steps) {
        cluster_.simulation().step();
        look();
      }
      if (pick(4) == 0) {
        run_kubelets(cluster_, [this](const Pod&) { return pick(3) == 0; });
        pass(std::chrono::milliseconds{pick(3'000)});
      }
    }
    cluster_.simulation().faults({});
    // Longer than the longest restart back-off and every retry.
    for (int round = 0; round < 14; ++round) {
      pass(seconds{10});
      run_kubelets(cluster_);
    }
    pass(seconds{20});
    check();
    const auto before = revisions();
    keep_alive(cluster_, {"n0", "n1"}, seconds{60});
    if (revisions() != before) FAIL_CHECK("controllers go on to change what is right");
  }

 private:
  static cluster_options options(bool far) {
    cluster_options all;
    all.far = far;
    all.plane.conflict_chance = 0.05;
    return all;
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void pass(runtime::duration time) {
    for (const char* node : {"n0", "n1"})
      renew_lease(cluster_, node);
    cluster_.advance(time);
    look();
  }

  // -- random work --------------------------------------------------------------------------------

  void act() {
    const auto choice = pick(pods_change_hands_ ? 16 : 12);
    const auto name = "o" + std::to_string(pick(names));
    if (pick(kinds) == 0) {
      act_on<ReplicaSet>(choice, name);
    } else {
      act_on<ReplicationController>(choice, name);
    }
  }

  template <class T>
  void act_on(unsigned choice, const std::string& name) {
    const auto found = cluster_.find<T>("default", name);
    if (choice < 6) return found ? scale<T>(found) : make<T>(name);
    if (choice < 7) return found ? end<T>(found) : make<T>(name);
    if (choice < 12) return hurt_pod(choice);
    if (choice < 14) return relabel_pod();
    if (choice < 15) return add_orphan();
    if (found) reselect(found);
  }

  static labels some_labels(unsigned index) {
    static const labels all[] = {{{"app", "a"}}, {{"app", "b"}}, {{"app", "a"}, {"tier", "x"}}};
    return all[index];
  }

  template <class T>
  void make(const std::string& name) {
    const auto replicas = static_cast<int>(pick(6));
    // Where pods keep their owners, labels do too: two selectors do not overlap.
    auto of = some_labels(pick(3));
    if (!pods_change_hands_) of = {{"app", name + api::kind_of<T>().kind()}};
    std::unique_ptr<api::body> body;
    if constexpr (std::is_same_v<T, ReplicaSet>) {
      body = std::make_unique<T>(replica_set(name, replicas, of));
    } else {
      body = std::make_unique<T>(replication_controller(name, replicas, of));
    }
    static_cast<T&>(*body).mutable_spec()->set_min_ready_seconds(pick(3) == 0 ? 5 : 0);
    const auto made = cluster_.try_create(std::move(body));
    REQUIRE(made);
    most_[(*made)->meta().uid()] = replicas;
  }

  template <class T>
  void scale(const api::object_ptr& owner) {
    const auto replicas = static_cast<int>(pick(8));
    if (owner->meta().has_deletion_timestamp()) return;
    auto& most = most_[owner->meta().uid()];
    most = std::max(most, replicas);
    cluster_.change<T>("default", owner->meta().name(),
                       [&](T& changed) { changed.mutable_spec()->set_replicas(replicas); });
  }

  template <class T>
  void end(const api::object_ptr& owner) {
    static const char* const policies[] = {"Background", "Foreground", "Orphan"};
    cluster_.remove<T>("default", owner->meta().name(), -1,
                       policies[pick(pods_change_hands_ ? 3 : 2)]);
  }

  api::object_ptr any_pod() {
    const auto all = cluster_.list<Pod>("default");
    return all.empty() ? nullptr : all[pick(static_cast<unsigned>(all.size()))];
  }

  void hurt_pod(unsigned choice) {
    const auto pod = any_pod();
    if (!pod) return;
    const auto& name = pod->meta().name();
    if (choice < 9) return cluster_.remove<Pod>("default", name, choice == 8 ? 0 : -1);
    if (choice < 10)
      cluster_.change<Pod>("default", name,
                           [](Pod& changed) { changed.mutable_status()->set_phase("Failed"); });
    else if (read_pod(pod).active())
      post_pod(cluster_, name, choice == 10);
  }

  void relabel_pod() {
    const auto pod = any_pod();
    if (!pod) return;
    cluster_.change<Pod>("default", pod->meta().name(), [this](Pod& changed) {
      changed.mutable_metadata()->clear_labels();
      for (const auto& [key, value] : some_labels(pick(3)))
        (*changed.mutable_metadata()->mutable_labels())[key] = value;
    });
  }

  void add_orphan() {
    auto pod = std::make_unique<Pod>(pod_named("orphan" + std::to_string(next_++)));
    for (const auto& [key, value] : some_labels(pick(3)))
      (*pod->mutable_metadata()->mutable_labels())[key] = value;
    REQUIRE(cluster_.try_create(std::move(pod)));
  }

  // Only a ReplicationController's selector may change.
  void reselect(const api::object_ptr& owner) {
    if (&owner->kind() != &api::kind_of<ReplicationController>()) return;
    const auto of = some_labels(pick(3));
    cluster_.change<ReplicationController>("default", owner->meta().name(), [&](auto& changed) {
      const auto like = replication_controller("x", 0, of);
      *changed.mutable_spec()->mutable_selector() = like.spec().selector();
      *changed.mutable_spec()->mutable_template_() = like.spec().template_();
    });
  }

  // -- what must hold -----------------------------------------------------------------------------

  // At each revision, where pods keep their owners: never more than was ever desired.
  void look() {
    const auto state = cluster_.store().read();
    if (pods_change_hands_ || state.at() == seen_) return;
    seen_ = state.at();
    std::map<std::string_view, int> active;
    state.scan(api::kind_of<Pod>().prefix(), {}, [&](std::string_view, const api::object_ptr& p) {
      if (read_pod(p).active()) ++active[actors::controller_uid(*p)];
      return true;
    });
    for (const auto& [uid, count] : active)
      if (count > most_[std::string{uid}])
        FAIL("revision " << seen_ << ": " << uid << " has " << count << " pods and was asked for "
                         << most_[std::string{uid}]);
  }

  std::vector<replica_owner> owners() const {
    std::vector<replica_owner> all;
    for (const auto& each : cluster_.list<ReplicationController>())
      all.emplace_back(each);
    for (const auto& each : cluster_.list<ReplicaSet>())
      all.emplace_back(each);
    return all;
  }

  void check() {
    const auto all = owners();
    for (const auto& pod : cluster_.list<Pod>())
      check_pod(*pod, read_pod(pod).active(), all);
    for (const auto& owner : all) {
      INFO(owner.object()->json());
      CHECK_FALSE(owner.deleting());
      CHECK(active_pods(cluster_, owner.uid()) == static_cast<std::size_t>(owner.replicas()));
      const auto status = owner.status();
      CHECK(status.replicas == owner.replicas());
      CHECK(status.ready == owner.replicas());
      CHECK(status.available == owner.replicas());
      CHECK(status.observed_generation == owner.generation());
      CHECK(status.conditions.empty());
    }
    std::size_t actors = 0;
    cluster_.simulation().system().actors().each([&](const runtime::actor_info& info) {
      actors += info.kind == "replicaset" || info.kind == "replicationcontroller" ? 1 : 0;
    });
    CHECK(actors == all.size());
  }

  static bool selects(const replica_owner& owner, const api::object& pod) {
    const auto& object = *owner.object();
    const auto selector = &object.kind() == &api::kind_of<ReplicaSet>()
                              ? actors::selector_of<ReplicaSet>(object)
                              : actors::selector_of<ReplicationController>(object);
    return selector.matches(pod.meta().labels());
  }

  static void check_pod(const api::object& pod, bool active,
                        const std::vector<replica_owner>& owners) {
    INFO(pod.json());
    CHECK_FALSE(pod.meta().has_deletion_timestamp());
    const auto uid = actors::controller_uid(pod);
    bool owned = false;
    for (const auto& owner : owners) {
      const bool ours = owner.uid() == uid;
      owned |= ours;
      // Finished pods do not change owners any more.
      if (!active) continue;
      if (ours && !selects(owner, pod)) FAIL_CHECK("a pod was not released");
      if (uid.empty() && selects(owner, pod)) FAIL_CHECK("a pod was not adopted");
    }
    if (!uid.empty() && !owned) FAIL_CHECK("the pod's owner has gone");
  }

  std::map<std::string, std::uint64_t> revisions() const {
    std::map<std::string, std::uint64_t> all;
    for (const auto& prefix : {api::kind_of<Pod>().prefix(), api::kind_of<ReplicaSet>().prefix(),
                               api::kind_of<ReplicationController>().prefix()})
      cluster_.store().read().scan(prefix, {}, [&](std::string_view key, const auto& object) {
        all[std::string{key}] = object->revision();
        return true;
      });
    return all;
  }

  std::mt19937_64 random_;
  const bool pods_change_hands_;
  cluster cluster_;
  std::map<std::string, int> most_;  // the most replicas ever desired, by uid
  persistence::revision seen_ = 0;
  int next_ = 0;
};

}  // namespace

TEST_CASE("controllers under random faults reach their desired replicas, and never exceed them",
          "[replication][seeds]") {
  for_each_seed(150, [](std::uint64_t seed) { random_run{seed, false}.run(); });
}

TEST_CASE("controllers under faults reach their replicas over a remote store with other writers",
          "[replication][seeds][far]") {
  for_each_seed(200, [](std::uint64_t seed) { random_run{seed, true}.run(); });
}

}  // namespace troupe::test
