#include "server/join/membership.hpp"

#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/defaults.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "server/join/defaults.hpp"
#include "server/join/join_authorizer.hpp"

namespace troupe::server {
namespace {

using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::Pod;
using persistence::snapshot;
using persistence::transaction;

constexpr std::string_view lease_namespace = actors::defaults::node_lease_namespace;

api::error refusal(int code, const char* reason, std::string message) {
  api::error out;
  out.code = code;
  out.reason = reason;
  out.message = std::move(message);
  return out;
}

api::error removed(const std::string& node) {
  return refusal(403, "Forbidden", actors::removal_reason(node));
}

api::error taken(const std::string& node) {
  auto out = refusal(409, "AlreadyExists",
                     "the cluster has a node " + node +
                         " already: give this machine another name with --node-name; if it is the "
                         "same machine come back without its data, kubectl delete node " +
                         node + " first");
  out.kind = "nodes";
  out.name = node;
  return out;
}

api::object_ptr find_node(const snapshot& state, const std::string& node) {
  return state.find(api::kind_of<Node>().key({}, node));
}

transaction change(const api::object_ptr& before, std::unique_ptr<api::body> content) {
  transaction transaction;
  auto key = before->kind().key(before->meta().namespace_(), before->meta().name());
  transaction.preconditions.push_back({key, before->revision()});
  transaction.mutations.push_back({std::move(key), &before->kind(), std::move(content)});
  return transaction;
}

api::expected<transaction> create(const snapshot& state, const std::string& node,
                                  const std::string& key_hash, runtime::wall_time now,
                                  std::mt19937_64& random) {
  auto content = std::make_unique<Node>();
  auto& meta = *content->mutable_metadata();
  meta.set_name(node);
  (*meta.mutable_annotations())[std::string{actors::node_key_annotation}] = key_hash;
  return actors::create_transaction(state, api::kind_of<Node>(), std::move(content),
                                    actors::checks::all, now, random);
}

// The pods that must still end on the node.
void add_pods(const snapshot& state, const std::string& node, leave_step& into) {
  const auto& kind = api::kind_of<Pod>();
  state.scan(kind.prefix(), {}, [&](std::string_view key, const api::object_ptr& found) {
    const auto& pod = found->as<Pod>();
    if (pod.spec().node_name() != node || actors::is_terminated(pod)) return true;
    ++into.left;
    const auto& meta = found->meta();
    if (into.pods.size() < join_defaults::evictions_at_once)
      into.pods.push_back(meta.namespace_() + "/" + meta.name());
    if (!meta.has_deletion_timestamp() && into.evictions.size() < join_defaults::evictions_at_once)
      into.evictions.push_back({.pod_key = std::string{key},
                                .pod_uid = meta.uid(),
                                .reason = "EvictionByEvictionAPI",
                                .message = "The node leaves the cluster"});
    return true;
  });
}

void remove_node(const snapshot& state, const api::object_ptr& node, leave_step& into) {
  into.transaction = change(node, nullptr);
  const auto& kind = api::kind_of<Lease>();
  auto lease = kind.key(lease_namespace, node->meta().name());
  if (state.find(lease)) into.transaction.mutations.push_back({std::move(lease), &kind, nullptr});
  into.gone = true;
}

}  // namespace

api::expected<transaction> plan_admission(const snapshot& state, const std::string& node,
                                          const std::string& key_hash,
                                          const membership_requester& by, runtime::wall_time now,
                                          std::mt19937_64& random) {
  const auto found = find_node(state, node);
  const auto known = found ? actors::node_key_hash(*found) : std::string_view{};
  if (!found) {
    if (!by.node.empty()) return api::fail(removed(node));
    return create(state, node, key_hash, now, random);
  }
  if (known == key_hash) return transaction{};
  if (by.node.empty()) return api::fail(taken(node));
  if (known.empty() || known != by.key_hash) return api::fail(removed(node));
  auto content = found->copy_as<Node>();
  (*content->mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
      key_hash;
  return change(found, std::move(content));
}

api::expected<void> check_name_is_free(const snapshot& state, const std::string& node) {
  if (find_node(state, node)) return api::fail(taken(node));
  return {};
}

api::expected<void> check_membership(const snapshot& state, const user_info& node,
                                     std::string_view key_hash) {
  const std::string name{node_of(node)};
  const auto found = find_node(state, name);
  const auto key = found ? actors::node_key_hash(*found) : std::string_view{};
  const bool good = key.empty() ? !node.in_group(actors::joined_nodes_group) : key == key_hash;
  if (!good) return api::fail(removed(name));
  return {};
}

api::expected<leave_step> plan_leave_step(const snapshot& state, const membership_requester& by,
                                          bool at_once) {
  leave_step step;
  const auto found = find_node(state, by.node);
  if (!found) {
    step.gone = true;
    return step;
  }
  if (actors::node_key_hash(*found) != by.key_hash) return api::fail(removed(by.node));
  if (at_once) {
    remove_node(state, found, step);
  } else if (!found->as<Node>().spec().unschedulable()) {
    auto content = found->copy_as<Node>();
    content->mutable_spec()->set_unschedulable(true);
    step.transaction = change(found, std::move(content));
    add_pods(state, by.node, step);
    step.evictions.clear();  // in the next step, when no new pods can be bound
  } else {
    add_pods(state, by.node, step);
    if (step.left == 0) remove_node(state, found, step);
  }
  return step;
}

}  // namespace troupe::server
