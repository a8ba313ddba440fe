#include "server/access/node_authorizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "actors/access/default_policy.hpp"
#include "actors/access/default_policy_text.hpp"
#include "actors/access/node_identity.hpp"
#include "actors/access/pod_references.hpp"
#include "actors/defaults.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/rbac_v1.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "server/access/rbac_authorizer.hpp"

namespace troupe::server {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::PersistentVolume;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;
using api::rbac::v1::ClusterRole;
using api::storage::v1::VolumeAttachment;

constexpr std::string_view storage_group = "storage.k8s.io";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

actors::access::rule_list rules_of_nodes() {
  for (const auto& each : actors::access::read_policy(actors::access::default_policy_text))
    if (const auto* role = dynamic_cast<const ClusterRole*>(each.get());
        role != nullptr && role->metadata().name() == "system:node")
      return role->rules();
  return {};
}

// The node that a pod selector requires; empty: none, or an invalid selector.
std::string selected_node(const std::string& selector) {
  if (selector.empty()) return {};
  const auto parsed = api::field_selector::parse(api::kind_of<Pod>(), selector);
  if (!parsed) return {};
  return std::string{parsed->exact("spec.nodeName").value_or("")};
}

// The reason of a refusal, possibly empty; nullopt: allowed.
using refusal = std::optional<std::string>;
// Whether the request's object is related to the node.
using relation = std::function<bool()>;

refusal judge_relation(std::string_view node, const request_info& info, const relation& related) {
  if (info.name.empty()) return "No Object name found";
  if (related()) return {};
  return fmt::format("no relationship found between node '{}' and this object", node);
}

refusal judge_get(std::string_view node, const request_info& info, const relation& related) {
  if (info.verb != "get") return "can only get individual resources of this type";
  if (!info.subresource.empty()) return "cannot get subresource";
  return judge_relation(node, info, related);
}

refusal judge_read(std::string_view node, const request_info& info, const relation& related) {
  if (!is_one_of(info.verb, {"get", "list", "watch"}))
    return "can only read resources of this type";
  if (!info.subresource.empty()) return "cannot read subresource";
  if (info.namespace_name.empty()) return "can only read namespaced object of this type";
  return judge_relation(node, info, related);
}

refusal judge_claim(std::string_view node, const request_info& info, const relation& related) {
  if (info.subresource != "status") return judge_get(node, info, related);
  if (!is_one_of(info.verb, {"update", "patch"})) return "can only get/update/patch this type";
  return judge_relation(node, info, related);
}

refusal judge_account(std::string_view node, const request_info& info, const relation& related) {
  if (info.verb == "get" && info.subresource.empty()) return judge_get(node, info, related);
  if (info.verb != "create" || info.name.empty())
    return "can only create tokens for individual service accounts";
  if (info.subresource != "token") return "can only create token subresource of serviceaccount";
  return judge_relation(node, info, related);
}

refusal judge_lease(std::string_view node, const request_info& info) {
  if (!is_one_of(info.verb, {"get", "create", "update", "patch", "delete"}))
    return "can only get, create, update, patch, or delete a node lease";
  if (info.namespace_name != actors::defaults::node_lease_namespace)
    return fmt::format("can only access leases in the \"{}\" system namespace",
                       actors::defaults::node_lease_namespace);
  if (info.verb != "create" && info.name != node)
    return "can only access node lease with the same name as the requesting node";
  return {};
}

refusal judge_csi_node(std::string_view node, const request_info& info) {
  if (!is_one_of(info.verb, {"get", "create", "update", "patch", "delete"}))
    return "can only get, create, update, patch, or delete a CSINode";
  if (!info.subresource.empty()) return "cannot authorize CSINode subresources";
  if (info.verb != "create" && info.name != node)
    return "can only access CSINode with the same name as the requesting node";
  return {};
}

refusal judge_node(std::string_view node, const request_info& info) {
  if (info.subresource == "status" && is_one_of(info.verb, {"update", "patch"})) return {};
  if (!info.subresource.empty()) return "";
  if (is_one_of(info.verb, {"create", "update", "patch"})) return {};
  if (!is_one_of(info.verb, {"get", "list", "watch"})) return "";
  if (info.name == node) return {};
  if (info.name.empty())
    return fmt::format("node '{}' cannot read all nodes, only its own Node object", node);
  return fmt::format("node '{}' cannot read '{}', only its own Node object", node, info.name);
}

refusal judge_pod(std::string_view node, const request_info& info, const relation& related) {
  if (info.subresource == "status" && is_one_of(info.verb, {"update", "patch"})) return {};
  if (info.subresource == "eviction" && info.verb == "create") return {};
  if (!info.subresource.empty()) return "";
  if (is_one_of(info.verb, {"create", "delete"})) return {};
  if (info.verb == "get") return judge_get(node, info, related);
  if (!is_one_of(info.verb, {"list", "watch"})) return "";
  if (selected_node(info.field_selector) == node) return {};
  if (!info.name.empty()) return judge_relation(node, info, related);
  return "can only list/watch pods with spec.nodeName field selector";
}

refusal evaluate(std::string_view node, const request_info& info,
                 const actors::access::rule_list& rules, const relation& related) {
  if (info.is_resource && info.group.empty()) {
    if (is_one_of(info.resource, {"secrets", "configmaps"})) return judge_read(node, info, related);
    if (info.resource == "persistentvolumeclaims") return judge_claim(node, info, related);
    if (info.resource == "persistentvolumes") return judge_get(node, info, related);
    if (info.resource == "serviceaccounts") return judge_account(node, info, related);
    if (info.resource == "nodes") return judge_node(node, info);
    if (info.resource == "pods") return judge_pod(node, info, related);
  }
  if (info.group == storage_group && info.resource == "volumeattachments")
    return judge_get(node, info, related);
  if (info.group == storage_group && info.resource == "csinodes") return judge_csi_node(node, info);
  if (info.group == "coordination.k8s.io" && info.resource == "leases")
    return judge_lease(node, info);
  const auto attempt = attempt_of(info);
  if (std::any_of(rules.begin(), rules.end(),
                  [&](const auto& rule) { return actors::access::allows(rule, attempt); }))
    return {};
  return "";
}

}  // namespace

node_authorizer::node_authorizer(std::shared_ptr<const actors::access::node_graph> graph,
                                 const persistence::store& store)
    : graph_{std::move(graph)}, store_{store}, rules_{rules_of_nodes()} {}

decision node_authorizer::authorize(const user_info& user, const request_info& info,
                                    std::string* reason) const {
  const auto node = actors::node_of(user.name, user.groups);
  if (node.empty()) return decision::no_opinion;
  auto refused = evaluate(node, info, rules_, [&] { return is_related(node, info); });
  if (!refused) return decision::allow;
  if (reason != nullptr && !refused->empty()) *reason = std::move(*refused);
  return decision::no_opinion;
}

bool node_authorizer::is_related(std::string_view node, const request_info& info) const {
  const auto key = [&](const api::kind_info& kind) {
    return kind.key(info.namespace_name, info.name);
  };
  if (info.resource == "secrets") return graph_->uses(node, key(api::kind_of<Secret>()));
  if (info.resource == "configmaps") return graph_->uses(node, key(api::kind_of<ConfigMap>()));
  if (info.resource == "serviceaccounts")
    return graph_->uses(node, key(api::kind_of<ServiceAccount>()));
  if (info.resource == "persistentvolumeclaims")
    return graph_->uses(node, key(api::kind_of<PersistentVolumeClaim>()));
  const auto& kind = info.resource == "pods"                ? api::kind_of<Pod>()
                     : info.resource == "persistentvolumes" ? api::kind_of<PersistentVolume>()
                                                            : api::kind_of<VolumeAttachment>();
  const auto found = store_.read().find(key(kind));
  if (!found) return false;
  if (&kind == &api::kind_of<Pod>()) return found->as<Pod>().spec().node_name() == node;
  if (&kind == &api::kind_of<VolumeAttachment>())
    return found->as<VolumeAttachment>().spec().node_name() == node;
  const auto claim = actors::claim_key(found->as<PersistentVolume>());
  return !claim.empty() && graph_->uses(node, claim);
}

}  // namespace troupe::server
