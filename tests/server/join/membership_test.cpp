// Effects of joining, renewing and leaving on the store, decision by decision.
#include "server/join/membership.hpp"

#include <catch2/catch.hpp>
#include <future>
#include <memory>

#include "actors/access/node_identity.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server::testing {

using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::Pod;
using Catch::Matchers::Contains;

namespace {

class members {
 public:
  template <class T>
  void write(const std::string& ns, const std::string& name, const T& body) {
    auto content = std::make_unique<T>(body);
    content->mutable_metadata()->set_name(name);
    content->mutable_metadata()->set_namespace_(ns);
    persistence::transaction transaction;
    transaction.mutations.push_back(
        {api::kind_of<T>().key(ns, name), &api::kind_of<T>(), std::move(content)});
    std::promise<bool> done;
    store_->submit(std::move(transaction),
                   [&](const auto& result) { done.set_value(result.has_value()); });
    REQUIRE(done.get_future().get());
  }
  // Key empty: it has not joined.
  void add_node(const std::string& name, const std::string& key, bool cordoned = false) {
    Node node;
    if (!key.empty())
      (*node.mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
          key;
    node.mutable_spec()->set_unschedulable(cordoned);
    write({}, name, node);
  }
  void add_pod(const std::string& name, const std::string& node, const std::string& phase,
               bool deleting = false) {
    Pod pod;
    pod.mutable_metadata()->set_uid("uid-" + name);
    if (deleting) pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
    pod.mutable_spec()->set_node_name(node);
    pod.mutable_status()->set_phase(phase);
    write("default", name, pod);
  }

  api::expected<persistence::transaction> admit(const std::string& node, const std::string& key,
                                                const membership_requester& by) {
    return plan_admission(store_->read(), node, key, by, runtime::wall_time{}, random_);
  }
  leave_step depart(const std::string& node, bool at_once = false) const {
    auto step = plan_leave_step(store_->read(), {node, "key-" + node}, at_once);
    REQUIRE(step);
    return std::move(*step);
  }
  persistence::revision revision_of(const std::string& node) const {
    return store_->read().find(api::kind_of<Node>().key({}, node))->revision();
  }
  persistence::snapshot now() const { return store_->read(); }

 private:
  std::unique_ptr<persistence::store> store_ = persistence::store::open({}).value();
  std::mt19937_64 random_{1};
};

std::string key_in(const persistence::mutation& mutation) {
  const auto& annotations = static_cast<const Node&>(*mutation.content).metadata().annotations();
  const auto found = annotations.find(std::string{actors::node_key_annotation});
  return found == annotations.end() ? std::string{} : found->second;
}

void check_refused(const api::expected<persistence::transaction>& got, int code,
                   const std::string& words) {
  REQUIRE_FALSE(got);
  CHECK(got.error().code == code);
  CHECK_THAT(got.error().message, Contains(words));
}

const membership_requester by_token;

}  // namespace

TEST_CASE("a certificate that joining gave is good with the key of its Node alone") {
  members cluster;
  cluster.add_node("joined", "key-a");
  cluster.add_node("by-hand", "");
  const auto may = [&](const std::string& node, const std::string& key, bool by_joining) {
    user_info user{"system:node:" + node, {}, {"system:nodes"}};
    if (by_joining) user.groups.emplace_back(actors::joined_nodes_group);
    return check_membership(cluster.now(), user, key).has_value();
  };
  CHECK(may("joined", "key-a", true));
  CHECK_FALSE(may("joined", "key-b", true));
  CHECK_FALSE(may("by-hand", "key-a", true));
  CHECK_FALSE(may("gone", "key-a", true));
  // Signed for another use, or before certificates of joining had a mark.
  CHECK(may("joined", "key-a", false));
  CHECK_FALSE(may("joined", "key-b", false));
  CHECK(may("by-hand", "key-a", false));
  CHECK(may("gone", "key-a", false));
}

TEST_CASE("a token makes a Node where there is none, and only where there is none") {
  members all;
  const auto made = all.admit("n0", "key-n0", by_token);
  REQUIRE(made);
  REQUIRE(made->mutations.size() == 1);
  CHECK(key_in(made->mutations[0]) == "key-n0");
  REQUIRE(made->preconditions.size() == 1);
  CHECK(made->preconditions[0].key == made->mutations[0].key);
  CHECK(made->preconditions[0].at == 0);

  all.add_node("n0", "key-n0");
  all.add_node("beside", "");
  const auto again = all.admit("n0", "key-n0", by_token);
  REQUIRE(again);
  CHECK(again->mutations.empty());
  check_refused(all.admit("n0", "another", by_token), 409, "has a node n0 already");
  check_refused(all.admit("beside", "another", by_token), 409, "has a node beside already");
}

TEST_CASE("a certificate renews for the key that the Node names, and makes no Node") {
  members all;
  check_refused(all.admit("n0", "key-n0", {"n0", "key-n0"}), 403, "n0 was removed");
  all.add_node("n0", "key-n0");
  CHECK(all.admit("n0", "key-n0", {"n0", "key-n0"})->mutations.empty());
  // The response to an earlier change of keys was lost: the request still uses the older one.
  CHECK(all.admit("n0", "key-n0", {"n0", "older"})->mutations.empty());

  const auto changed = all.admit("n0", "next", {"n0", "key-n0"});
  REQUIRE(changed);
  REQUIRE(changed->mutations.size() == 1);
  CHECK(key_in(changed->mutations[0]) == "next");
  REQUIRE(changed->preconditions.size() == 1);
  CHECK(changed->preconditions[0].at == all.revision_of("n0"));

  check_refused(all.admit("n0", "next", {"n0", "older"}), 403, "n0 was removed");
  all.add_node("n0", "");
  check_refused(all.admit("n0", "next", {"n0", "key-n0"}), 403, "n0 was removed");
}

TEST_CASE("a node that leaves is cordoned, then evicts its pods, and goes when none is left") {
  members all;
  all.add_node("n0", "key-n0");
  all.write<Lease>("kube-node-lease", "n0", {});
  all.add_pod("runs", "n0", "Running");
  all.add_pod("waits", "n0", "Pending");
  all.add_pod("ends", "n0", "Running", true);
  all.add_pod("done", "n0", "Succeeded");
  all.add_pod("failed", "n0", "Failed");
  all.add_pod("other", "n1", "Running");
  const std::vector<std::string> left{"default/ends", "default/runs", "default/waits"};

  const auto first = all.depart("n0");
  CHECK_FALSE(first.gone);
  REQUIRE(first.transaction.mutations.size() == 1);
  CHECK(static_cast<const Node&>(*first.transaction.mutations[0].content).spec().unschedulable());
  REQUIRE(first.transaction.preconditions.size() == 1);
  CHECK(first.transaction.preconditions[0].at == all.revision_of("n0"));
  CHECK(first.evictions.empty());
  CHECK(first.left == 3);
  CHECK(first.pods == left);

  all.add_node("n0", "key-n0", true);
  const auto second = all.depart("n0");
  CHECK_FALSE(second.gone);
  CHECK(second.transaction.mutations.empty());
  CHECK(second.pods == left);
  REQUIRE(second.evictions.size() == 2);
  CHECK(second.evictions[0].pod_uid == "uid-runs");
  CHECK(second.evictions[0].pod_key == "/registry/pods/default/runs");
  CHECK(second.evictions[1].pod_uid == "uid-waits");

  for (const auto* name : {"runs", "waits"})
    all.add_pod(name, "n0", "Failed");
  const auto third = all.depart("n0");
  CHECK_FALSE(third.gone);
  CHECK(third.left == 1);
  CHECK(third.evictions.empty());
  CHECK(third.transaction.mutations.empty());

  all.add_pod("ends", "n0", "Succeeded", true);
  const auto last = all.depart("n0");
  CHECK(last.gone);
  REQUIRE(last.transaction.mutations.size() == 2);
  CHECK(last.transaction.mutations[0].key == api::kind_of<Node>().key({}, "n0"));
  CHECK_FALSE(last.transaction.mutations[0].content);
  CHECK(last.transaction.mutations[1].key == api::kind_of<Lease>().key("kube-node-lease", "n0"));
  CHECK_FALSE(last.transaction.mutations[1].content);
  REQUIRE(last.transaction.preconditions.size() == 1);
  CHECK(last.transaction.preconditions[0].at == all.revision_of("n0"));
}

TEST_CASE("a node with many pods evicts them by the hundred and counts them all") {
  members all;
  all.add_node("n0", "key-n0", true);
  constexpr auto most = join_defaults::evictions_at_once;
  for (std::size_t i = 0; i < most + 20; ++i)
    all.add_pod("p" + std::to_string(i), "n0", "Running", i % 10 == 0);
  const auto step = all.depart("n0");
  CHECK(step.left == most + 20);
  CHECK(step.pods.size() == most);
  CHECK(step.evictions.size() == most);
}

TEST_CASE(
    "a node leaves at once by force, and has left when it is gone, but by its own key alone") {
  members all;
  all.add_node("n0", "key-n0");
  all.add_pod("runs", "n0", "Running");
  const auto step = all.depart("n0", true);
  CHECK(step.gone);
  CHECK(step.evictions.empty());
  REQUIRE(step.transaction.mutations.size() == 1);  // there is no Lease
  CHECK_FALSE(step.transaction.mutations[0].content);

  for (const bool at_once : {false, true}) {
    const auto refused = plan_leave_step(all.now(), {"n0", "another"}, at_once);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == 403);
  }
  const auto absent = plan_leave_step(all.now(), {"n1", "any"}, false);
  REQUIRE(absent);
  CHECK(absent->gone);
  CHECK(absent->transaction.mutations.empty());
}

}  // namespace troupe::server::testing
