// The permissions of a node on the state of the cluster: rule by rule, and with random requests.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "actors/access/node_identity.hpp"
#include "actors/access/node_labels.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/link/node_permissions.hpp"
#include "actors/tokens/node_token.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/write/commands.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::may_commit;
using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::PersistentVolume;
using api::core::v1::Pod;
using api::core::v1::Secret;
using Catch::Matchers::Contains;

namespace {

// Two nodes with a pod each, their leases, and a secret that the pod of n0 uses.
struct two_nodes {
  cluster state{1, {.plane = {.controllers = false}}};

  two_nodes() {
    Namespace leases;
    leases.mutable_metadata()->set_name("kube-node-lease");
    state.create(leases);
    for (const std::string node : {"n0", "n1"}) {
      add_node(state, node);
      state.change<Node>({}, node, [&](Node& n) {
        (*n.mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
            "sha256:" + node;
        (*n.mutable_metadata()->mutable_labels())["node-restriction.kubernetes.io/zone"] = "a";
        (*n.mutable_metadata()->mutable_labels())["own"] = "b";
      });
      renew_lease(state, node);
      auto pod = pod_named("p-" + node, node);
      auto& from = *pod.mutable_spec()->mutable_containers(0)->add_env_from();
      from.mutable_secret_ref()->mutable_local_object_reference()->set_name("s-" + node);
      state.create(pod);
      Secret secret;
      secret.mutable_metadata()->set_name("s-" + node);
      state.create(secret);
    }
  }

  persistence::snapshot now() const { return state.store().read(); }

  template <class T>
  static std::string key(const std::string& ns, const std::string& name) {
    return api::kind_of<T>().key(ns, name);
  }

  // An `edit` of an object, as n0 would send it.
  template <class T, class F>
  persistence::expected<void> write(const std::string& ns, const std::string& name, F edit) {
    const auto old = state.find<T>(ns, name);
    auto content = old->template copy_as<T>();
    edit(*content);
    return may_commit(now(), "n0", actors::succeed(*old, std::move(content)));
  }
};

}  // namespace

TEST_CASE("a node is given the tokens that volumes of its pods ask for", "[link]") {
  cluster state{1, {.plane = {.controllers = false}}};
  const auto add = [&](const std::string& node) {
    add_node(state, node);
    auto pod = pod_named("p-" + node, node);
    pod.mutable_spec()->set_service_account_name("default");
    auto& volume = *pod.mutable_spec()->add_volumes();
    volume.set_name("v");
    auto& token = *volume.mutable_volume_source()
                       ->mutable_projected()
                       ->add_sources()
                       ->mutable_service_account_token();
    token.set_audience("vault");
    token.set_expiration_seconds(900);
    token.set_path("t");
    return state.create(pod)->meta().uid();
  };
  const auto own = add("n0"), foreign = add("n1");
  const actors::token_spec good{.ns = "default",
                                .account = "default",
                                .audiences = {"vault"},
                                .expiration_seconds = 900,
                                .bound_kind = "Pod",
                                .bound_api_version = "v1",
                                .bound_name = "p-n0",
                                .bound_uid = own};
  const auto refusal = [&](auto edit) {
    auto order = good;
    edit(order);
    const auto allowed = actors::may_request_token(state.store().read(), "n0", order);
    return allowed ? std::string{} : allowed.error().message;
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK_THAT(refusal([&](auto& order) {
               order.bound_name = "p-n1";
               order.bound_uid = foreign;
             }),
             Contains("pod scheduled on a different node"));
  CHECK_THAT(refusal([](auto& order) { order.bound_uid = "other"; }),
             Contains("(other) does not match the UID in record"));
  CHECK_THAT(refusal([](auto& order) { order.bound_uid.clear(); }),
             Contains("a pod binding without a uid"));
  CHECK_THAT(refusal([](auto& order) { order.bound_name = "none"; }), Contains("not found"));
  CHECK_THAT(refusal([](auto& order) { order.bound_kind = "Secret"; }),
             Contains("not bound to a pod"));
  CHECK_THAT(refusal([](auto& order) { order.account = "admin"; }), Contains("another account"));
  for (const auto& audiences : {std::vector<std::string>{}, {"api"}})
    CHECK_THAT(refusal([&](auto& order) { order.audiences = audiences; }),
               Contains("not found in pod spec volume"));
  CHECK_THAT(refusal([](auto& order) {
               order.audiences = {"vault", "api"};
             }),
             Contains("only request 0 or 1 audiences"));
  CHECK_THAT(refusal([](auto& order) { order.expiration_seconds = 86'400; }),
             Contains("requests a token of 86400 seconds"));
}

TEST_CASE("a link belongs to the node whose Node names its key", "[link]") {
  two_nodes world;
  runtime::link::peer peer{"system:node:n0", {"system:nodes"}, "sha256:n0", {}};
  CHECK(actors::admit_node(world.now(), peer).value() == "n0");
  SECTION("not with another key") {
    peer.key_hash = "sha256:n1";
    const auto refused = actors::admit_node(world.now(), peer);
    CHECK_THAT(refused.error(), Contains("node n0 was removed from this cluster: join it again"));
    CHECK(actors::is_removal_reason("the link said: " + refused.error()));
  }
  SECTION("not without a Node") {
    peer.name = "system:node:n7";
    CHECK_THAT(actors::admit_node(world.now(), peer).error(), Contains("node n7 was removed"));
  }
  SECTION("not when nobody gave the Node a key, nor for a peer without one") {
    world.state.change<Node>({}, "n0", [](Node& n) { n.mutable_metadata()->clear_annotations(); });
    CHECK_FALSE(actors::admit_node(world.now(), peer));
    peer.key_hash.clear();
    CHECK_FALSE(actors::admit_node(world.now(), peer));
  }
  SECTION("not for who is no node") {
    peer.groups = {"system:masters"};
    CHECK_THAT(actors::admit_node(world.now(), peer).error(), Contains("is no node"));
    peer = {"admin", {"system:nodes"}, "sha256:n0", {}};
    CHECK_FALSE(actors::admit_node(world.now(), peer));
    peer.name = "system:node:";
    CHECK_FALSE(actors::admit_node(world.now(), peer));
  }
}

TEST_CASE("a node writes status and harmless labels of its own Node", "[link]") {
  two_nodes world;
  const auto ok = [&](auto edit) { return world.write<Node>({}, "n0", edit).has_value(); };
  CHECK(ok([](Node& n) { n.mutable_status()->mutable_node_info()->set_kubelet_version("v9"); }));
  CHECK(ok([](Node& n) {
    (*n.mutable_metadata()->mutable_labels())["kubernetes.io/hostname"] = "x";
    (*n.mutable_metadata()->mutable_labels())["example.com/disk"] = "ssd";
    n.mutable_metadata()->mutable_labels()->erase("own");
  }));
  CHECK_FALSE(ok([](Node& n) { n.mutable_spec()->set_unschedulable(true); }));
  CHECK_FALSE(ok([](Node& n) { n.mutable_spec()->add_taints()->set_key("k"); }));
  CHECK_FALSE(ok([](Node& n) { (*n.mutable_metadata()->mutable_annotations())["a"] = "b"; }));
  CHECK_FALSE(ok([](Node& n) { n.mutable_metadata()->add_finalizers("a/b"); }));
  CHECK_FALSE(ok([](Node& n) {
    (*n.mutable_metadata()->mutable_labels())["node-restriction.kubernetes.io/zone"] = "b";
  }));
  CHECK_FALSE(ok([](Node& n) {
    n.mutable_metadata()->mutable_labels()->erase("node-restriction.kubernetes.io/zone");
  }));
  CHECK_FALSE(ok([](Node& n) {
    (*n.mutable_metadata()->mutable_labels())["node-role.kubernetes.io/control-plane"] = "";
  }));
  CHECK_FALSE(world.write<Node>({}, "n1", [](Node& n) { n.mutable_status()->clear_addresses(); }));
}

TEST_CASE("a node writes the status of its pods and removes those that end", "[link]") {
  two_nodes world;
  const auto status = [](Pod& p) { p.mutable_status()->set_phase("Running"); };
  CHECK(world.write<Pod>("default", "p-n0", status));
  CHECK_THAT(world.write<Pod>("default", "p-n1", status).error().message,
             Contains("not bound to node n0"));
  CHECK_FALSE(world.write<Pod>("default", "p-n0", [](Pod& p) {
    p.mutable_spec()->mutable_containers(0)->set_image("other");
  }));
  CHECK_FALSE(world.write<Pod>("default", "p-n0", [](Pod& p) {
    (*p.mutable_metadata()->mutable_labels())["app"] = "taken-over";
  }));
  const auto remove = [&](const std::string& name) {
    persistence::transaction transaction;
    const auto pod = world.state.find<Pod>("default", name);
    transaction.preconditions.push_back({api::key_of(*pod), pod->revision()});
    transaction.mutations.push_back({api::key_of(*pod), &pod->kind(), nullptr});
    return may_commit(world.now(), "n0", transaction).has_value();
  };
  const auto order = [&](const std::string& name) {
    const auto pod = world.state.find<Pod>("default", name);
    return actors::may_remove(world.now(), "n0",
                              {.key = api::key_of(*pod), .uid = pod->meta().uid()})
        .has_value();
  };
  CHECK_FALSE(remove("p-n0"));
  CHECK_FALSE(order("p-n0"));
  for (const auto* name : {"p-n0", "p-n1"})
    world.state.change<Pod>("default", name, [](Pod& p) {
      p.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
    });
  CHECK(remove("p-n0"));
  CHECK(order("p-n0"));
  CHECK_FALSE(remove("p-n1"));
  CHECK_FALSE(order("p-n1"));
  world.state.change<Pod>("default", "p-n0",
                          [](Pod& p) { p.mutable_metadata()->add_finalizers("a/b"); });
  CHECK_FALSE(remove("p-n0"));
}

TEST_CASE("a node's commands and events are about the very object that it means", "[link]") {
  two_nodes world;
  const auto pod = world.state.find<Pod>("default", "p-n0");
  const auto key = api::key_of(*pod);
  const auto evict = [&](const std::string& uid) {
    return actors::may_evict(world.now(), "n0", {.pod_key = key, .pod_uid = uid});
  };
  CHECK(evict(pod->meta().uid()));
  CHECK(evict("another").error().code == 409);
  CHECK(evict({}).error().code == 409);
  CHECK(actors::may_record(world.now(), "n0", key, pod->meta().uid()));
  CHECK_THAT(actors::may_record(world.now(), "n0", key, "another").error(),
             Contains("another uid"));

  world.state.change<Pod>("default", "p-n0", [](Pod& p) {
    p.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  });
  actors::remove removal{.key = key, .uid = pod->meta().uid()};
  CHECK(actors::may_remove(world.now(), "n0", removal));
  removal.propagation = "Orphan";
  CHECK(actors::may_remove(world.now(), "n0", removal).error().code == 403);
}

TEST_CASE("an object used by two pods of a node is referenced until both are deleted", "[link]") {
  two_nodes world;
  const auto one = world.state.find<Pod>("default", "p-n0");
  auto copy = one->copy_as<Pod>();
  copy->mutable_metadata()->set_uid("uid-of-two");
  copy->mutable_metadata()->set_name("two");
  const auto two = std::make_shared<api::object>(one->kind(), std::move(copy), one->revision());
  const auto secret = world.key<Secret>("default", "s-n0");
  actors::node_references references;
  references.take({.object = one});
  references.take({.object = two});
  references.take({.object = two});
  CHECK(references.take({.type = actors::event_type::deleted, .object = one}).empty());
  CHECK(references.used(secret));
  CHECK(references.take({.type = actors::event_type::deleted, .object = two}) ==
        std::vector{secret});
  CHECK_FALSE(references.used(secret));
}

TEST_CASE("a node cannot write with a precondition on a future revision", "[link]") {
  two_nodes world;
  auto transaction = actors::succeed(*world.state.find<Pod>("default", "p-n0"),
                                     world.state.find<Pod>("default", "p-n0")->copy_as<Pod>());
  transaction.preconditions.front().at = world.now().at() + 1;
  const auto refused = may_commit(world.now(), "n0", transaction);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == persistence::errc::conflict);
  CHECK(refused.error().actual == world.state.find<Pod>("default", "p-n0")->revision());
  transaction.preconditions.clear();
  CHECK_FALSE(may_commit(world.now(), "n0", transaction));
}

TEST_CASE("a node makes its Lease with its Node as the owner, or without one", "[link]") {
  two_nodes world;
  const auto key = two_nodes::key<Lease>("kube-node-lease", "n0");
  world.state.remove<Lease>("kube-node-lease", "n0");
  const auto may = [&](auto edit) {
    auto lease = std::make_unique<Lease>();
    lease->mutable_metadata()->set_namespace_("kube-node-lease");
    lease->mutable_metadata()->set_name("n0");
    edit(*lease->mutable_metadata());
    persistence::transaction transaction;
    transaction.preconditions.push_back({key, 0});
    transaction.mutations.push_back({key, &api::kind_of<Lease>(), std::move(lease)});
    return may_commit(world.now(), "n0", transaction).has_value();
  };
  const auto owned_by = [&](const std::string& node) {
    return [owner = world.state.find<Node>({}, node)](auto& meta) {
      actors::add_owner_reference(*owner, meta);
    };
  };
  CHECK(may([](auto&) {}));
  CHECK(may(owned_by("n0")));
  CHECK_FALSE(may(owned_by("n1")));
  CHECK_FALSE(may([&](auto& meta) {
    owned_by("n0")(meta);
    owned_by("n1")(meta);
  }));
  CHECK_FALSE(may([&](auto& meta) {
    owned_by("n0")(meta);
    meta.mutable_owner_references(0)->set_block_owner_deletion(true);
  }));
  CHECK_FALSE(may([](auto& meta) { meta.add_finalizers("a.b/c"); }));
}

TEST_CASE("a node may make a write conditional on the state of its own Node alone", "[link]") {
  two_nodes world;
  const auto tied_to = [&](const std::string& node) {
    const auto pod = world.state.find<Pod>("default", "p-n0");
    auto transaction = actors::succeed(*pod, pod->copy_as<Pod>());
    transaction.preconditions.push_back({world.key<Node>({}, node), 1});
    return may_commit(world.now(), "n0", transaction).has_value();
  };
  CHECK(tied_to("n0"));
  CHECK_FALSE(tied_to("n1"));
}

TEST_CASE("a node watches itself, its pods and the objects that they refer to", "[link]") {
  two_nodes world;
  actors::node_references references;
  const auto pod = world.state.find<Pod>("default", "p-n0");
  CHECK(references.take({.object = pod}).empty());
  const auto used = [&](const std::string& key) { return references.used(key); };
  const auto may = [&](const std::string& prefix, const std::string& on_node = {}) {
    return actors::may_follow("n0", prefix, on_node, used).has_value();
  };
  CHECK(may(world.key<Node>({}, "n0")));
  CHECK(may(world.key<Lease>("kube-node-lease", "n0")));
  CHECK(may("/registry/pods/", "n0"));
  CHECK(may(api::kind_of<Node>().prefix()));
  CHECK(may(world.key<Secret>("default", "s-n0")));
  CHECK_FALSE(may(world.key<Secret>("default", "s-n1")));
  CHECK_FALSE(may(world.key<ConfigMap>("default", "s-n0")));
  CHECK_FALSE(may(world.key<Secret>("other", "s-n0")));
  for (const auto& prefix :
       {api::kind_of<api::networking::v1::NetworkPolicy>().prefix(),
        api::kind_of<api::core::v1::Namespace>().prefix(), api::kind_of<Pod>().prefix()}) {
    CHECK(may(prefix));
    CHECK_FALSE(may(prefix + "default/"));
  }
  for (const auto* prefix :
       {"", "/", "/registry/", "/registry/secrets/", "/registry/secrets/default/",
        "/registry/minions/", "/registry/configmaps/default/"}) {
    INFO(prefix);
    CHECK_FALSE(may(prefix));
    CHECK_FALSE(may(prefix, "n0"));
    CHECK_FALSE(may(prefix, "n1"));
  }
  CHECK(references.take({.type = actors::event_type::deleted, .object = pod}) ==
        std::vector{world.key<Secret>("default", "s-n0")});
  CHECK_FALSE(may(world.key<Secret>("default", "s-n0")));
}

TEST_CASE("a node takes its finalizer from a volume of its own that goes, and no more", "[link]") {
  namespace names = actors::volumes::defaults;
  two_nodes world;
  for (const std::string node : {"n0", "n1"}) {
    PersistentVolume volume;
    volume.mutable_metadata()->set_name("v-" + node);
    volume.mutable_metadata()->add_finalizers(names::local_path_finalizer);
    (*volume.mutable_spec()->mutable_capacity())["storage"].set_string("1Gi");
    volume.mutable_spec()->add_access_modes("ReadWriteOnce");
    auto& source = *volume.mutable_spec()->mutable_persistent_volume_source()->mutable_csi();
    source.set_driver(names::local_path);
    source.set_volume_handle("v-" + node);
    (*source.mutable_volume_attributes())[names::local_path_node] = node;
    world.state.create(volume);
  }
  const auto release = [](PersistentVolume& volume) {
    auto& all = *volume.mutable_metadata()->mutable_finalizers();
    all.erase(std::remove(all.begin(), all.end(), names::local_path_finalizer), all.end());
  };
  // The volume is not deleted.
  CHECK_FALSE(world.write<PersistentVolume>({}, "v-n0", release));
  for (const auto* name : {"v-n0", "v-n1"})
    world.state.remove<PersistentVolume>({}, name);
  CHECK(world.write<PersistentVolume>({}, "v-n0", release));
  CHECK_FALSE(world.write<PersistentVolume>({}, "v-n1", release));
  CHECK_FALSE(world.write<PersistentVolume>({}, "v-n0", [&](PersistentVolume& volume) {
    release(volume);
    volume.mutable_spec()->set_storage_class_name("x");
  }));
  CHECK_FALSE(world.write<PersistentVolume>(
      {}, "v-n0", [](PersistentVolume& volume) { volume.mutable_metadata()->clear_finalizers(); }));
}

TEST_CASE("of a pod on another node a node sees only the fields that policies need", "[link]") {
  api::core::v1::Pod pod;
  pod.mutable_metadata()->set_name("p");
  pod.mutable_metadata()->set_uid("u");
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  (*pod.mutable_metadata()->mutable_annotations())["note"] = "hidden";
  pod.mutable_spec()->set_node_name("n1");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.add_ports()->set_name("http");
  container.add_env()->set_value("hidden");
  container.add_command("hidden");
  pod.mutable_status()->set_pod_ip("10.42.0.1");
  pod.mutable_status()->set_message("hidden");
  const auto shown =
      actors::shown_for_policies(api::object{api::kind_of<Pod>(), std::make_unique<Pod>(pod), 7});
  CHECK(shown->revision() == 7);
  const auto& body = shown->as<Pod>();
  CHECK(body.metadata().labels().at("app") == "web");
  CHECK(body.spec().containers(0).ports(0).name() == "http");
  CHECK(body.status().pod_ip() == "10.42.0.1");
  CHECK(body.ShortDebugString().find("hidden") == std::string::npos);
}

TEST_CASE("random requests of a node never change objects of others", "[link]") {
  for_each_seed(30, [](std::uint64_t seed) {
    two_nodes world;
    std::mt19937_64 random{seed};
    const auto pick = [&](std::size_t below) { return random() % below; };
    std::size_t allowed = 0;
    for (int round = 0; round < 150; ++round) {
      const auto before = world.now();
      std::vector<api::object_ptr> all;
      before.scan("/registry/", {}, [&](std::string_view, const api::object_ptr& each) {
        all.push_back(each);
        return true;
      });
      const auto target = all[pick(all.size())];
      auto content = target->copy();
      auto& meta = api::meta_of(*content);
      switch (pick(9)) {
        case 0:
          (*meta.mutable_labels())["l" + std::to_string(pick(3))] = std::to_string(pick(9));
          break;
        case 1:
          (*meta.mutable_annotations())["a"] = std::to_string(pick(9));
          break;
        case 2:
          meta.add_finalizers("a/f" + std::to_string(pick(9)));
          break;
        case 3:
          if (auto* pod = dynamic_cast<Pod*>(content.get()))
            pod->mutable_spec()->set_node_name(pick(2) == 0 ? "n0" : "n1");
          if (auto* node = dynamic_cast<Node*>(content.get()))
            node->mutable_spec()->set_unschedulable(pick(2) == 0);
          break;
        case 4:
          content.reset();
          break;
        default:
          if (auto* pod = dynamic_cast<Pod*>(content.get()))
            pod->mutable_status()->set_message(std::to_string(random()));
          if (auto* node = dynamic_cast<Node*>(content.get()))
            node->mutable_status()->mutable_node_info()->set_boot_id(std::to_string(random()));
          if (auto* lease = dynamic_cast<Lease*>(content.get()))
            lease->mutable_spec()->set_lease_transitions(static_cast<int>(pick(1'000)));
      }
      const auto key = api::key_of(*target);
      persistence::transaction transaction;
      transaction.preconditions.push_back(
          {key, pick(8) == 0 ? pick(before.at() + 2) : target->revision()});
      transaction.mutations.push_back({key, &target->kind(), std::move(content)});
      const auto result = may_commit(before, "n0", transaction);
      if (!result) {
        REQUIRE_FALSE(result.error().message.empty());
        continue;
      }
      ++allowed;
      world.state.store().submit(std::move(transaction), [](persistence::outcome) {});
      const auto after = world.now();
      for (const auto& each : all) {
        const auto now = after.find(api::key_of(*each));
        if (now == each) continue;
        INFO(api::key_of(*each));
        const bool own = each->kind().kind() == "Pod" ? each->as<Pod>().spec().node_name() == "n0"
                                                      : each->meta().name() == "n0";
        REQUIRE(own);
        REQUIRE(now);
        if (each->kind().kind() == "Pod")
          REQUIRE(api::same_meaning(each->as<Pod>().spec(), now->as<Pod>().spec()));
        if (each->kind().kind() == "Node")
          REQUIRE(api::same_meaning(each->as<Node>().spec(), now->as<Node>().spec()));
        REQUIRE(each->meta().finalizers_size() == now->meta().finalizers_size());
        REQUIRE(each->meta().annotations_size() == now->meta().annotations_size());
      }
    }
    CHECK(allowed > 5);
  });
}

}  // namespace troupe::test
