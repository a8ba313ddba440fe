#include "actors/link/node_permissions.hpp"

#include <spdlog/fmt/fmt.h>

#include "actors/access/node_identity.hpp"
#include "actors/access/node_labels.hpp"
#include "actors/access/pod_references.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/defaults.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "api/equality.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/scheme.hpp"
#include "api/validation/validation.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::Endpoints;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::PersistentVolume;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;
using api::networking::v1::NetworkPolicy;

namespace {

tl::unexpected<persistence::error> refused(std::string reason) {
  return persistence::fail(persistence::errc::invalid, std::move(reason));
}

bool is_pod_of(const std::string& node, const api::object& object) {
  return &object.kind() == &api::kind_of<Pod>() && object.as<Pod>().spec().node_name() == node;
}

// Whether `now` equals `was` except for the fields that `level` makes equal. Objects on the link
// have no resourceVersion.
template <class T, class F>
bool same_but(const api::body& now, const api::object& was, F level) {
  T rest = static_cast<const T&>(now);
  const auto& before = was.as<T>();
  rest.mutable_metadata()->set_resource_version(before.metadata().resource_version());
  level(rest, before);
  return api::same_meaning(rest, before);
}

persistence::expected<void> check_status(const api::object& was, const api::body& now) {
  const auto wrong = api::validate_status_update(was.kind(), now, was.content());
  if (wrong.empty()) return {};
  return refused(fmt::format("{}: {}", wrong.front().field, wrong.front().message));
}

persistence::expected<void> may_write_node(const api::object_ptr& was, const api::body* now) {
  if (now == nullptr) return refused("a node may not remove itself: troupe leave does it");
  if (!was) return refused("a node may not make its Node: it is made when it joins");
  std::string label;
  const bool same = same_but<Node>(*now, *was, [&](Node& rest, const Node& before) {
    *rest.mutable_status() = before.status();
    auto& labels = *rest.mutable_metadata()->mutable_labels();
    for (const auto& [key, value] : before.metadata().labels())
      if (may_label(key)) labels[key] = value;
    std::vector<std::string> added;
    for (const auto& [key, value] : labels)
      if (!before.metadata().labels().contains(key)) added.push_back(key);
    for (const auto& key : added) {
      if (may_label(key))
        labels.erase(key);
      else
        label = key;
    }
  });
  if (!label.empty()) return refused(fmt::format("a node may not set its label {}", label));
  if (!same)
    return refused(
        "a node may write the status and labels of its Node: not its spec, taints, annotations, or "
        "labels of kubernetes.io that are not a kubelet's");
  return check_status(*was, *now);
}

persistence::expected<void> may_write_lease(const api::object_ptr& node, const api::object_ptr& was,
                                            const api::body* now) {
  if (now == nullptr) return refused("a node may not remove its Lease");
  if (!was) {
    api::meta::v1::ObjectMeta requested, allowed;
    *requested.mutable_owner_references() = api::meta_of(*now).owner_references();
    *requested.mutable_finalizers() = api::meta_of(*now).finalizers();
    if (node && requested.owner_references_size() != 0) add_owner_reference(*node, allowed);
    if (!api::same_meaning(requested, allowed))
      return refused("a node's Lease has no owner but its Node, and no finalizers");
    return {};
  }
  const bool same = same_but<Lease>(
      *now, *was, [](Lease& rest, const Lease& before) { *rest.mutable_spec() = before.spec(); });
  if (same) return {};
  return refused("a node may write nothing but the spec of its Lease");
}

persistence::expected<void> may_write_pod(const std::string& node, const api::object_ptr& was,
                                          const api::body* now) {
  if (!was) return refused("a node may not make pods");
  if (!is_pod_of(node, *was)) return refused(fmt::format("the pod is not bound to node {}", node));
  const auto& meta = was->meta();
  if (now == nullptr) {
    if (!meta.has_deletion_timestamp())
      return refused("a node may not remove a pod that is not being deleted");
    if (meta.finalizers_size() != 0)
      return refused("a pod with finalizers is removed when they are gone");
    return {};
  }
  const bool same = same_but<Pod>(
      *now, *was, [](Pod& rest, const Pod& before) { *rest.mutable_status() = before.status(); });
  if (!same) return refused("a node may write nothing but the status of a pod");
  return check_status(*was, *now);
}

persistence::expected<void> may_write_volume(const std::string& node, const api::object_ptr& was,
                                             const api::body* now) {
  namespace names = volumes::defaults;
  if (!was || volumes::node_of(was->as<PersistentVolume>()) != node)
    return refused(fmt::format("the volume is no directory of node {}", node));
  if (!has_pending_finalizer(was->meta(), names::local_path_finalizer))
    return refused("the volume does not wait for its directory to be removed");
  const auto rest = without_finalizer(*was, names::local_path_finalizer);
  if (now == nullptr) {
    if (api::meta_of(*rest).finalizers().empty()) return {};
    return refused("a volume with other finalizers is removed when they are gone");
  }
  auto& wanted = static_cast<PersistentVolume&>(*rest);
  wanted.mutable_metadata()->set_resource_version(api::meta_of(*now).resource_version());
  if (api::same_meaning(*now, wanted)) return {};
  return refused("a node may take nothing but its finalizer from a volume");
}

// Finds the pod of a command.
api::expected<api::object_ptr> pod_of(const persistence::snapshot& state, const std::string& node,
                                      const std::string& key, const std::string& uid) {
  const auto& kind = api::kind_of<Pod>();
  const auto name = key.substr(key.rfind('/') + 1);
  if (!key.starts_with(kind.prefix()))
    return api::fail(api::forbidden(kind, name, fmt::format("{} is not a pod", key)));
  auto found = state.find(key);
  if (!found) return api::fail(api::not_found(kind, name));
  if (!is_pod_of(node, *found))
    return api::fail(api::forbidden(kind, name, fmt::format("it is not bound to node {}", node)));
  if (uid.empty() || uid != found->meta().uid())
    return api::fail(api::conflict(kind, name, "the pod has another uid than in the request"));
  return found;
}

}  // namespace

// -- the node of a link --------------------------------------------------------------------------

tl::expected<std::string, std::string> admit_node(const persistence::snapshot& state,
                                                  const runtime::link::peer& peer) {
  const auto node = node_of(peer.name, peer.groups);
  if (node.empty())
    return tl::make_unexpected(fmt::format(
        "{} is no node of this cluster: a link needs the certificate that troupe join gets",
        peer.name));
  const auto found = state.find(api::kind_of<Node>().key({}, node));
  if (!found || !has_joined(*found) || node_key_hash(*found) != peer.key_hash)
    return tl::make_unexpected(removal_reason(node));
  return std::string{node};
}

// -- writes ---------------------------------------------------------------------------------------

persistence::expected<void> may_commit(const persistence::snapshot& state, const std::string& node,
                                       const persistence::transaction& transaction) {
  const auto own = api::kind_of<Node>().key({}, node);
  const auto& states = transaction.preconditions;
  if (transaction.mutations.size() != 1 || states.empty() || states.size() > 2 ||
      states.front().key != transaction.mutations.front().key ||
      (states.size() == 2 && states.back().key != own))
    return refused(
        "a node changes one object at a time, and says which state it has seen of it, and of its "
        "Node");
  const auto& demanded = transaction.preconditions.front();
  const auto& key = demanded.key;
  const auto was = state.find(key);
  // The checked revision is a precondition of the write: the store rejects it if it has changed.
  if (const auto actual = was ? was->revision() : 0; actual != demanded.at)
    return persistence::fail(
        {.code = persistence::errc::conflict,
         .message = fmt::format("{} is at revision {}, not {}", key, actual, demanded.at),
         .key = key,
         .actual = actual});
  const auto* now = transaction.mutations.front().content.get();
  if (key == own) return may_write_node(was, now);
  if (key == api::kind_of<Lease>().key(defaults::node_lease_namespace, node))
    return may_write_lease(state.find(api::kind_of<Node>().key({}, node)), was, now);
  if (key.starts_with(api::kind_of<Pod>().prefix())) return may_write_pod(node, was, now);
  if (key.starts_with(api::kind_of<PersistentVolume>().prefix()))
    return may_write_volume(node, was, now);
  return refused(fmt::format("node {} may not write {}", node, key));
}

api::expected<void> may_remove(const persistence::snapshot& state, const std::string& node,
                               const remove& removal) {
  auto pod = pod_of(state, node, removal.key, removal.uid);
  if (!pod) return api::fail(std::move(pod.error()));
  const auto& object = **pod;
  if (!object.meta().has_deletion_timestamp())
    return api::fail(api::forbidden(object.kind(), object.meta().name(),
                                    "a node may not remove a pod that is not being deleted"));
  if (!removal.propagation.empty())
    return api::fail(api::forbidden(object.kind(), object.meta().name(),
                                    "a node does not decide what becomes of a pod's dependents"));
  return {};
}

api::expected<void> may_evict(const persistence::snapshot& state, const std::string& node,
                              const evict& eviction) {
  auto pod = pod_of(state, node, eviction.pod_key, eviction.pod_uid);
  if (!pod) return api::fail(std::move(pod.error()));
  return {};
}

tl::expected<api::object_ptr, std::string> may_record(const persistence::snapshot& state,
                                                      const std::string& node,
                                                      const std::string& key,
                                                      const std::string& uid) {
  auto found = state.find(key);
  const bool own = found && (key == api::kind_of<Node>().key({}, node) || is_pod_of(node, *found));
  if (!own)
    return tl::make_unexpected(
        fmt::format("node {} may not record events about {}: it is not its own", node, key));
  if (found->meta().uid() != uid)
    return tl::make_unexpected(fmt::format("{} has another uid than in the request", key));
  return found;
}

// -- reads ----------------------------------------------------------------------------------------

tl::expected<void, std::string> may_follow(const std::string& node, const std::string& prefix,
                                           const std::string& on_node,
                                           const std::function<bool(const std::string&)>& used) {
  if (!on_node.empty()) {
    if (prefix.starts_with(api::kind_of<Pod>().prefix()) && on_node == node) return {};
    return tl::make_unexpected(
        fmt::format("node {} may follow the pods that are bound to it, no others", node));
  }
  if (prefix == api::kind_of<Node>().key({}, node) ||
      prefix == api::kind_of<Lease>().key(defaults::node_lease_namespace, node))
    return {};
  // kubernetes: the role system:node; containers get variables for their namespace's services. The
  // node's service rules and DNS use the slices (system:node-proxier).
  if (prefix.starts_with(api::kind_of<Service>().prefix()) ||
      prefix == api::kind_of<Endpoints>().key("default", "kubernetes") ||
      prefix == api::kind_of<EndpointSlice>().prefix())
    return {};
  // kubernetes: system:node-proxier. For the routes to the pods of other nodes.
  if (prefix == api::kind_of<Node>().prefix()) return {};
  // Network policies select pods of all nodes, also by the labels of their
  // namespaces.
  if (prefix == api::kind_of<NetworkPolicy>().prefix() ||
      prefix == api::kind_of<Namespace>().prefix() || has_pods_of_others(prefix, on_node))
    return {};
  // The node removes directories of its volumes; a volume references secrets, but has none.
  if (prefix.starts_with(api::kind_of<PersistentVolume>().prefix())) return {};
  const bool may_be_used = prefix.starts_with(api::kind_of<ConfigMap>().prefix()) ||
                           prefix.starts_with(api::kind_of<PersistentVolumeClaim>().prefix()) ||
                           prefix.starts_with(api::kind_of<Secret>().prefix());
  if (may_be_used && used(prefix)) return {};
  if (may_be_used)
    return tl::make_unexpected(fmt::format("no pod of node {} refers to {}", node, prefix));
  return tl::make_unexpected(fmt::format("node {} may not follow {}", node, prefix));
}

bool has_pods_of_others(const std::string& prefix, const std::string& on_node) {
  return on_node.empty() && prefix == api::kind_of<Pod>().prefix();
}

api::object_ptr shown_for_policies(const api::object& pod) {
  const auto& from = pod.as<Pod>();
  auto shown = std::make_unique<Pod>();
  auto& meta = *shown->mutable_metadata();
  meta.set_name(pod.meta().name());
  meta.set_namespace_(pod.meta().namespace_());
  meta.set_uid(pod.meta().uid());
  *meta.mutable_creation_timestamp() = pod.meta().creation_timestamp();
  *meta.mutable_labels() = pod.meta().labels();
  auto& spec = *shown->mutable_spec();
  spec.set_node_name(from.spec().node_name());
  spec.set_host_network(from.spec().host_network());
  const auto add = [](auto& to, const Container& container) {
    to.set_name(container.name());
    *to.mutable_ports() = container.ports();
    if (container.has_restart_policy()) to.set_restart_policy(container.restart_policy());
  };
  for (const auto& container : from.spec().containers())
    add(*spec.add_containers(), container);
  for (const auto& container : from.spec().init_containers())
    add(*spec.add_init_containers(), container);
  auto& status = *shown->mutable_status();
  status.set_phase(from.status().phase());
  status.set_host_ip(from.status().host_ip());
  status.set_pod_ip(from.status().pod_ip());
  *status.mutable_pod_ips() = from.status().pod_ips();
  return std::make_shared<const api::object>(pod.kind(), std::move(shown), pod.revision());
}

std::vector<std::string> node_references::take(const watch_event& event) {
  if (!event.object) return {};
  std::set<std::string> keys;
  if (event.type != event_type::deleted) {
    const auto now = referenced_keys(event.object->as<Pod>());
    keys.insert(now.begin(), now.end());
  }
  const auto& uid = event.object->meta().uid();
  const auto before = std::exchange(of_pod_[uid], keys);
  if (event.type == event_type::deleted) of_pod_.erase(uid);
  for (const auto& key : keys)
    if (!before.contains(key)) ++count_[key];
  std::vector<std::string> dropped;
  for (const auto& key : before) {
    if (keys.contains(key) || --count_[key] != 0) continue;
    count_.erase(key);
    dropped.push_back(key);
  }
  return dropped;
}

}  // namespace troupe::actors
