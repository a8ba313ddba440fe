#include "actors/controllers/stateful_sets/identity.hpp"

#include <algorithm>
#include <charconv>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/pod_template.hpp"
#include "actors/controllers/kit/revisions.hpp"
#include "actors/core/labels.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::stateful_sets {

using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::PodTemplateSpec;

namespace {

constexpr const char* name_label = "statefulset.kubernetes.io/pod-name";
constexpr const char* index_label = "apps.kubernetes.io/pod-index";

// A claim replaces a volume of the template with the same name.
void mount_claims(const StatefulSet& set, std::int32_t ordinal, api::core::v1::PodSpec& pod) {
  auto& volumes = *pod.mutable_volumes();
  for (const auto& claim : set.spec().volume_claim_templates()) {
    const auto& name = claim.metadata().name();
    const auto found = std::find_if(volumes.begin(), volumes.end(),
                                    [&](const auto& volume) { return volume.name() == name; });
    auto& volume = found == volumes.end() ? *volumes.Add() : *found;
    volume.Clear();
    volume.set_name(name);
    volume.mutable_volume_source()->mutable_persistent_volume_claim()->set_claim_name(
        claim_name(set.metadata().name(), name, ordinal));
  }
}

// Returns true if a reference was added or removed.
bool set_reference(const api::object& to, bool wanted, api::meta::v1::ObjectMeta& from) {
  const auto& references = from.owner_references();
  const bool there = std::any_of(references.begin(), references.end(),
                                 [&](const auto& each) { return each.uid() == to.meta().uid(); });
  if (there == wanted) return false;
  wanted ? add_owner_reference(to, from) : remove_controller_reference(to, from);
  return true;
}

}  // namespace

std::optional<std::int32_t> ordinal_of(std::string_view set, std::string_view pod) {
  if (pod.size() <= set.size() + 1 || !pod.starts_with(set) || pod[set.size()] != '-')
    return std::nullopt;
  const auto digits = pod.substr(set.size() + 1);
  std::int32_t ordinal = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  const bool canonical =
      read.ec == std::errc{} && ordinal >= 0 && std::to_string(ordinal) == digits;
  return canonical ? std::optional{ordinal} : std::nullopt;
}

std::string pod_name(std::string_view set, std::int32_t ordinal) {
  return std::string{set} + "-" + std::to_string(ordinal);
}

std::string claim_name(std::string_view set, std::string_view claim, std::int32_t ordinal) {
  return std::string{claim} + "-" + pod_name(set, ordinal);
}

std::unique_ptr<Pod> make_pod(const StatefulSet& set, const PodTemplateSpec& from,
                              std::int32_t ordinal, const std::string& revision) {
  auto pod = pod_from_template(set.metadata(), from);
  auto& meta = *pod->mutable_metadata();
  meta.set_name(pod_name(set.metadata().name(), ordinal));
  (*meta.mutable_labels())[pod_revision_label] = revision;
  set_identity(*pod, ordinal);
  auto& spec = *pod->mutable_spec();
  spec.set_hostname(meta.name());
  spec.set_subdomain(set.spec().service_name());
  mount_claims(set, ordinal, spec);
  return pod;
}

bool has_identity(const Pod& pod, std::int32_t ordinal) {
  const auto& labels = pod.metadata().labels();
  return find_or_empty(labels, name_label) == pod.metadata().name() &&
         find_or_empty(labels, index_label) == std::to_string(ordinal);
}

void set_identity(Pod& pod, std::int32_t ordinal) {
  auto& labels = *pod.mutable_metadata()->mutable_labels();
  labels[name_label] = pod.metadata().name();
  labels[index_label] = std::to_string(ordinal);
}

std::vector<std::unique_ptr<PersistentVolumeClaim>> make_claims(const StatefulSet& set,
                                                                std::int32_t ordinal) {
  std::vector<std::unique_ptr<PersistentVolumeClaim>> made;
  for (const auto& from : set.spec().volume_claim_templates()) {
    auto& claim = *made.emplace_back(std::make_unique<PersistentVolumeClaim>(from));
    auto& meta = *claim.mutable_metadata();
    meta.set_name(claim_name(set.metadata().name(), from.metadata().name(), ordinal));
    meta.set_namespace_(set.metadata().namespace_());
    for (const auto& [key, value] : set.spec().selector().match_labels())
      (*meta.mutable_labels())[key] = value;
    claim.clear_status();
  }
  return made;
}

bool is_deleted_with_pod(const api::object& claim) {
  const auto& references = claim.meta().owner_references();
  return std::any_of(references.begin(), references.end(),
                     [](const auto& each) { return each.kind() == "Pod"; });
}

std::unique_ptr<PersistentVolumeClaim> with_retention(const api::object& set,
                                                      const api::object& pod, bool condemned,
                                                      const api::object& claim) {
  const auto& policy = set.as<StatefulSet>().spec().persistent_volume_claim_retention_policy();
  auto changed = claim.copy_as<PersistentVolumeClaim>();
  auto& meta = *changed->mutable_metadata();
  const bool to_pod = condemned && policy.when_scaled() == "Delete";
  // With both it would outlive the pod (kubernetes: updateClaimOwnerRefForSetAndPod).
  const bool to_set = policy.when_deleted() == "Delete" && !to_pod;
  const bool by_set = set_reference(set, to_set, meta);
  const bool by_pod = set_reference(pod, to_pod, meta);
  return by_set || by_pod ? std::move(changed) : nullptr;
}

}  // namespace troupe::actors::stateful_sets
