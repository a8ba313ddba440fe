// Restricts a node to its own objects: its Node except taints, restricted labels and pod ranges,
// its lease, its CSINode, the status of its pods, mirror pods, the capacity of claims, and requests
// for its own certificates: 403 otherwise (access/node_identity.hpp).
//
// kubernetes: plugin/pkg/admission/noderestriction.
#include <fmt/format.h>

#include <algorithm>

#include "actors/access/node_identity.hpp"
#include "actors/access/node_labels.hpp"
#include "actors/access/pod_references.hpp"
#include "actors/certificates/certificate_request.hpp"
#include "actors/core/labels.hpp"
#include "actors/defaults.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/equality.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::certificates::v1::CertificateSigningRequest;
using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::storage::v1::CSINode;

verdict refuse(const attributes& of, std::string_view reason) {
  return api::fail(forbidden(of, reason));
}

template <class List>
bool same_messages(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return api::same_meaning(x, y); });
}

// -- pods -----------------------------------------------------------------------------------------

verdict check_owner(const attributes& of, std::string_view node, const Pod& pod) {
  const auto& owners = pod.metadata().owner_references();
  if (owners.size() > 1)
    return refuse(
        of, fmt::format("node \"{}\" can only create pods with a single owner reference set to "
                        "itself",
                        node));
  if (owners.empty() || owners[0].api_version() != "v1" || owners[0].kind() != "Node" ||
      owners[0].name() != node)
    return refuse(
        of, fmt::format("node \"{}\" can only create pods with an owner reference set to itself",
                        node));
  if (!owners[0].controller())
    return refuse(
        of, fmt::format("node \"{}\" can only create pods with a controller owner reference set "
                        "to itself",
                        node));
  if (owners[0].block_owner_deletion())
    return refuse(of, fmt::format("node \"{}\" must not set blockOwnerDeletion on an owner "
                                  "reference",
                                  node));
  const auto self = of.state.find(api::kind_of<Node>().key({}, node));
  if (!self) return api::fail(api::not_found(api::kind_of<Node>(), node));
  if (self->meta().uid() != owners[0].uid())
    return refuse(of, fmt::format("node {} UID mismatch: expected {} got {}", node, owners[0].uid(),
                                  self->meta().uid()));
  return {};
}

// The node of a pod may read the objects that the pod refers to.
verdict check_references(const attributes& of, std::string_view node, const Pod& pod) {
  using api::core::v1::ConfigMap;
  using api::core::v1::Secret;
  const auto refuse_kind = [&](std::string_view words) {
    return refuse(of,
                  fmt::format("node \"{}\" can not create pods that reference {}", node, words));
  };
  if (!pod.spec().service_account_name().empty()) return refuse_kind("a service account");
  for (const auto& key : used_keys(pod)) {
    if (key.starts_with(api::kind_of<Secret>().prefix())) return refuse_kind("secrets");
    if (key.starts_with(api::kind_of<ConfigMap>().prefix())) return refuse_kind("configmaps");
  }
  for (const auto& volume : pod.spec().volumes())
    for (const auto& source : volume.volume_source().projected().sources())
      if (source.has_cluster_trust_bundle()) return refuse_kind("clustertrustbundles");
  for (const auto& volume : pod.spec().volumes())
    if (volume.volume_source().has_persistent_volume_claim() ||
        volume.volume_source().has_ephemeral())
      return refuse_kind("persistentvolumeclaims");
  return {};
}

verdict check_creation(const attributes& of, std::string_view node) {
  const auto& pod = static_cast<const Pod&>(*of.now);
  if (!is_mirror(pod))
    return refuse(of, fmt::format("pod does not have \"{}\" annotation, node \"{}\" can only "
                                  "create mirror pods",
                                  mirror_annotation, node));
  if (pod.spec().node_name() != node)
    return refuse(
        of, fmt::format("node \"{}\" can only create pods with spec.nodeName set to itself", node));
  if (auto fine = check_owner(of, node, pod); !fine) return fine;
  return check_references(of, node, pod);
}

verdict check_pod_status(const attributes& of, std::string_view node) {
  const auto& before = static_cast<const Pod&>(*of.before);
  const auto& now = static_cast<const Pod&>(*of.now);
  if (before.spec().node_name() != node)
    return refuse(of, fmt::format("node \"{}\" can only update pod status for pods with "
                                  "spec.nodeName set to itself",
                                  node));
  if (!same_labels(before.metadata().labels(), now.metadata().labels()))
    return refuse(of, fmt::format("node \"{}\" cannot update labels through pod status", node));
  if (!same_messages(before.status().resource_claim_statuses(),
                     now.status().resource_claim_statuses()))
    return refuse(of, fmt::format("node \"{}\" cannot update resource claim statues", node));
  return {};
}

verdict check_pod(const attributes& of, std::string_view node) {
  const auto* before = static_cast<const Pod*>(of.before);
  if (of.subresource == "status") return check_pod_status(of, node);
  if (of.subresource == "eviction") {
    if (before->spec().node_name() == node) return {};
    return refuse(
        of, fmt::format("node {} can only evict pods with spec.nodeName set to itself", node));
  }
  if (!of.subresource.empty())
    return refuse(of, fmt::format("unexpected pod subresource \"{}\", only 'status' and 'eviction' "
                                  "are allowed",
                                  of.subresource));
  if (of.op == operation::create) return check_creation(of, node);
  if (of.op != operation::remove)
    return refuse(of, fmt::format("unexpected operation \"{}\", node \"{}\" can only create and "
                                  "delete mirror pods",
                                  to_string(of.op), node));
  if (before->spec().node_name() == node) return {};
  return refuse(
      of, fmt::format("node \"{}\" can only delete pods with spec.nodeName set to itself", node));
}

// -- other kinds ----------------------------------------------------------------------------------

verdict check_node(const attributes& of, std::string_view node) {
  if (of.name() != node)
    return refuse(of,
                  fmt::format("node \"{}\" is not allowed to modify node \"{}\"", node, of.name()));
  if (of.op != operation::create && of.op != operation::update) return {};
  static const Node none;
  const auto& now = static_cast<const Node&>(*of.now);
  const auto& before = of.before != nullptr ? static_cast<const Node&>(*of.before) : none;
  const auto labels = forbidden_labels(before.metadata(), now.metadata());
  // Our own rule: the node's key identifies the machine.
  if (node_key_hash(now.metadata()) != node_key_hash(before.metadata()))
    return refuse(of, fmt::format("node \"{}\" is not allowed to modify annotation {}", node,
                                  node_key_annotation));
  // Our own rule: routes follow these ranges.
  if (now.spec().pod_cidr() != before.spec().pod_cidr() ||
      !std::equal(now.spec().pod_cidrs().begin(), now.spec().pod_cidrs().end(),
                  before.spec().pod_cidrs().begin(), before.spec().pod_cidrs().end()))
    return refuse(of, fmt::format("node \"{}\" is not allowed to modify podCIDRs", node));
  if (of.op == operation::create) {
    if (labels.empty()) return {};
    return refuse(of, fmt::format("node \"{}\" is not allowed to set the following labels: {}",
                                  node, fmt::join(labels, ", ")));
  }
  if (!same_messages(before.spec().taints(), now.spec().taints()))
    return refuse(of, fmt::format("node \"{}\" is not allowed to modify taints", node));
  if (!labels.empty())
    return refuse(of, fmt::format("is not allowed to modify labels: {}", fmt::join(labels, ", ")));
  if (!same_messages(before.metadata().owner_references(), now.metadata().owner_references()))
    return refuse(of, fmt::format("node \"{}\" is not allowed to modify ownerReferences", node));
  return {};
}

verdict check_claim(const attributes& of, std::string_view node) {
  if (of.subresource != "status") return refuse(of, "may only update PVC status");
  auto now = static_cast<const PersistentVolumeClaim&>(*of.now);
  const auto& before = static_cast<const PersistentVolumeClaim&>(*of.before);
  auto& meta = *now.mutable_metadata();
  meta.set_resource_version(before.metadata().resource_version());
  *meta.mutable_managed_fields() = before.metadata().managed_fields();
  auto& status = *now.mutable_status();
  *status.mutable_capacity() = before.status().capacity();
  *status.mutable_conditions() = before.status().conditions();
  *status.mutable_allocated_resources() = before.status().allocated_resources();
  *status.mutable_allocated_resource_statuses() = before.status().allocated_resource_statuses();
  if (api::same_meaning(now, before)) return {};
  return refuse(of, fmt::format("node \"{}\" is not allowed to update fields other than "
                                "status.capacity and status.conditions",
                                node));
}

verdict check_lease(const attributes& of, std::string_view node) {
  if (of.ns() != defaults::node_lease_namespace)
    return refuse(of, fmt::format("can only access leases in the \"{}\" system namespace",
                                  defaults::node_lease_namespace));
  if (of.name() == node) return {};
  return refuse(of, "can only access node lease with the same name as the requesting node");
}

verdict check_csi_node(const attributes& of, std::string_view node) {
  if (of.name() == node) return {};
  return refuse(of, "can only access CSINode with the same name as the requesting node");
}

verdict check_request(const attributes& of, std::string_view node) {
  if (of.op != operation::create) return {};
  const auto& spec = static_cast<const CertificateSigningRequest&>(*of.now).spec();
  if (spec.signer_name() != certificates::kubelet_serving_signer &&
      spec.signer_name() != certificates::kubelet_client_signer)
    return {};
  const auto request = certificates::read_request(spec.request());
  if (!request) return refuse(of, "unable to parse csr: " + request.error());
  if (request->common_name == fmt::format("{}{}", node_user_prefix, node)) return {};
  return refuse(of, fmt::format("can only create a node CSR with CN={}{}", node_user_prefix, node));
}

// Tokens are not stored objects: may_request_token (tokens/node_token.hpp) restricts them.
class node_restriction final : public plugin {
 public:
  std::string_view name() const noexcept override { return "NodeRestriction"; }

  bool handles(const api::kind_info& kind, operation) const override {
    return check_of(kind) != nullptr;
  }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return handles(kind, op);
  }

  verdict validate(const attributes& of) const override {
    const auto node = node_of(of.by.name, of.by.groups);
    if (node.empty()) return {};
    return check_of(of.kind)(of, node);
  }

 private:
  using check = verdict (*)(const attributes& of, std::string_view node);

  static check check_of(const api::kind_info& kind) {
    if (&kind == &api::kind_of<Pod>()) return &check_pod;
    if (&kind == &api::kind_of<Node>()) return &check_node;
    if (&kind == &api::kind_of<PersistentVolumeClaim>()) return &check_claim;
    if (&kind == &api::kind_of<Lease>()) return &check_lease;
    if (&kind == &api::kind_of<CSINode>()) return &check_csi_node;
    if (&kind == &api::kind_of<CertificateSigningRequest>()) return &check_request;
    return nullptr;
  }
};

}  // namespace

plugin_ptr make_node_restriction() {
  return std::make_shared<node_restriction>();
}

}  // namespace troupe::actors::admission
