#include "api/definitions/rules.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "api/definitions/names.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/definitions/version_checks.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/validation/field_errors.hpp"
#include "api/values/ascii.hpp"

namespace troupe::api::definitions {

using namespace apiextensions::v1;

namespace {

void complete(CustomResourceDefinitionNames& names) {
  if (names.singular().empty() && !names.kind().empty()) names.set_singular(to_lower(names.kind()));
  if (names.list_kind().empty() && !names.kind().empty())
    names.set_list_kind(names.kind() + "List");
}

void check_label(field_errors& out, std::string_view field, const std::string& name) {
  if (!name.empty()) out.each(field, name, check_dns_1035_label(name));
}

template <class Names>
void check_labels(field_errors& out, std::string_view field, const Names& names) {
  for (int i = 0; i < names.size(); ++i) {
    const auto step = out.at.item(field, static_cast<std::size_t>(i));
    out.each({}, names[i], check_dns_1035_label(names[i]));
  }
}

// For spec.names and for status.acceptedNames.
void check_names(field_errors& out, const CustomResourceDefinitionNames& names) {
  check_label(out, "plural", names.plural());
  check_label(out, "singular", names.singular());
  if (!names.kind().empty())
    out.each("kind", names.kind(), check_dns_1035_label(to_lower(names.kind())));
  if (!names.list_kind().empty())
    out.each("listKind", names.list_kind(), check_dns_1035_label(to_lower(names.list_kind())));
  if (!names.kind().empty() && names.kind() == names.list_kind())
    out.invalid("listKind", names.list_kind(), "kind and listKind may not be the same");
  check_labels(out, "shortNames", names.short_names());
  check_labels(out, "categories", names.categories());
}

void check_group(field_errors& out, const std::string& group) {
  if (group.empty()) return;
  out.each("group", group, check_dns_subdomain(group));
  if (group.find('.') == std::string::npos)
    out.invalid("group", group, "should be a domain with at least one dot");
}

// Conversion webhooks are not supported yet.
void check_conversion(field_errors& out, const CustomResourceConversion& conversion) {
  const auto step = out.at.field("conversion");
  if (conversion.strategy() == "Webhook")
    return out.invalid("strategy", conversion.strategy(),
                       "conversion by a webhook is not supported by this server yet; None is, "
                       "for versions that differ in nothing but their names");
  if (conversion.has_webhook())
    out.forbidden("webhook", "should not be set when strategy is not set to Webhook");
}

void check_versions(field_errors& out, const CustomResourceDefinitionSpec& spec) {
  std::set<std::string> names;
  bool unique = true;
  int storing = 0;
  for (int i = 0; i < spec.versions_size(); ++i) {
    const auto& version = spec.versions(i);
    storing += version.storage() ? 1 : 0;
    unique = names.insert(version.name()).second && unique;
    const auto step = out.at.item("versions", static_cast<std::size_t>(i));
    check_version(out, version, !spec.preserve_unknown_fields());
  }
  if (!unique) out.invalid("versions", "", "must contain unique version names");
  if (storing != 1 && spec.versions_size() > 0)
    out.invalid("versions", "", "must have exactly one version marked as storage version");
}

void check_spec(field_errors& out, const CustomResourceDefinitionSpec& spec) {
  const auto step = out.at.field("spec");
  check_group(out, spec.group());
  {
    const auto inner = out.at.field("names");
    check_names(out, spec.names());
  }
  check_versions(out, spec);
  check_conversion(out, spec.conversion());
}

// Definitions that were stored in v1beta1 may keep it.
void check_preservation(field_errors& out, const CustomResourceDefinitionSpec& spec) {
  const auto step = out.at.field("spec");
  if (spec.preserve_unknown_fields())
    out.invalid("preserveUnknownFields", true,
                "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                "spec.versions[*].schema instead");
}

void check_approval(field_errors& out, const CustomResourceDefinition& definition) {
  if (!needs_approval(definition.spec().group())) return;
  const auto metadata = out.at.field("metadata");
  const auto annotations = out.at.field("annotations");
  const auto key = out.at.key(approval_annotation);
  const auto found = definition.metadata().annotations().find(std::string{approval_annotation});
  constexpr std::string_view see =
      "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
      "https://github.com/kubernetes/enhancements/pull/1111";
  if (found == definition.metadata().annotations().end()) return out.required({}, see);
  if (const auto problem = approval_problem(found->second))
    out.invalid({}, found->second, *problem);
}

// Versions in which objects may be stored must not be removed.
void check_stored_versions(field_errors& out, const CustomResourceDefinition& definition) {
  const auto step = out.at.field("status");
  const auto& stored = definition.status().stored_versions();
  if (stored.empty())
    return out.invalid_json("storedVersions", "[]", "must have at least one stored version");
  const auto* storage = storage_version(definition);
  if (storage != nullptr &&
      std::find(stored.begin(), stored.end(), storage->name()) == stored.end())
    out.invalid("storedVersions", "", "must have the storage version " + storage->name());
  const auto& versions = definition.spec().versions();
  for (int i = 0; i < stored.size(); ++i) {
    if (std::any_of(versions.begin(), versions.end(),
                    [&](const auto& version) { return version.name() == stored[i]; }))
      continue;
    const auto item = out.at.item("storedVersions", static_cast<std::size_t>(i));
    out.invalid({}, stored[i],
                "missing from spec.versions; " + stored[i] +
                    " was previously a storage version, and must remain in spec.versions until a "
                    "storage migration ensures no data remains persisted in " +
                    stored[i] + " and removes " + stored[i] + " from status.storedVersions");
  }
}

void check_unchanged(field_errors& out, std::string_view field, const std::string& now,
                     const std::string& was) {
  if (now != was) out.invalid(field, now, "field is immutable");
}

}  // namespace

const CustomResourceDefinitionVersion* storage_version(const CustomResourceDefinition& definition) {
  const auto& versions = definition.spec().versions();
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [](const auto& version) { return version.storage(); });
  return found == versions.end() ? nullptr : &*found;
}

void complete(CustomResourceDefinition& definition) {
  complete(*definition.mutable_spec()->mutable_names());
  // Accepted names in an imported object get their defaults too.
  if (definition.status().has_accepted_names())
    complete(*definition.mutable_status()->mutable_accepted_names());
}

void begin(CustomResourceDefinition& definition) {
  definition.clear_status();
  if (const auto* storage = storage_version(definition))
    definition.mutable_status()->add_stored_versions(storage->name());
}

void keep(CustomResourceDefinition& now) {
  const auto* storage = storage_version(now);
  if (storage == nullptr) return;
  auto& stored = *now.mutable_status()->mutable_stored_versions();
  if (std::find(stored.begin(), stored.end(), storage->name()) == stored.end())
    stored.Add(std::string{storage->name()});
}

deletion_plan plan_delete(const CustomResourceDefinition& stored, std::int64_t now_seconds) {
  if (stored.metadata().has_deletion_timestamp()) {
    if (stored.metadata().finalizers().empty()) return {deletion_step::remove, nullptr};
    return {deletion_step::unchanged, nullptr};
  }
  auto ending = std::make_unique<CustomResourceDefinition>(stored);
  auto& meta = *ending->mutable_metadata();
  meta.mutable_deletion_timestamp()->set_seconds(now_seconds);
  meta.set_deletion_grace_period_seconds(0);
  meta.set_generation(meta.generation() + 1);
  const auto& finalizers = meta.finalizers();
  if (std::find(finalizers.begin(), finalizers.end(), cleanup_finalizer) == finalizers.end())
    meta.add_finalizers(std::string{cleanup_finalizer});
  auto& conditions = *ending->mutable_status()->mutable_conditions();
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [](const auto& each) { return each.type() == "Terminating"; });
  auto& condition = found == conditions.end() ? *conditions.Add() : *found;
  condition.set_type("Terminating");
  condition.set_status("True");
  condition.set_reason("InstanceDeletionPending");
  condition.set_message(
      "CustomResourceDefinition marked for deletion; CustomResource deletion "
      "will begin soon");
  condition.mutable_last_transition_time()->set_seconds(now_seconds);
  return {deletion_step::update, std::move(ending)};
}

void check(field_errors& out, const CustomResourceDefinition& definition) {
  const auto& spec = definition.spec();
  const auto wanted = spec.names().plural() + "." + spec.group();
  if (definition.metadata().name() != wanted) {
    const auto step = out.at.field("metadata");
    out.invalid("name", definition.metadata().name(), "must be spec.names.plural+\".\"+spec.group");
  }
  check_spec(out, spec);
}

void check_create(field_errors& out, const CustomResourceDefinition& definition) {
  check_approval(out, definition);
  check_preservation(out, definition.spec());
  if (!overlaps_built_in(definition)) return;
  const auto spec = out.at.field("spec");
  const auto names = out.at.field("names");
  out.invalid("plural", definition.spec().names().plural(),
              "is a kind of this server's own in group " + definition.spec().group());
}

void check_update(field_errors& out, const CustomResourceDefinition& now,
                  const CustomResourceDefinition& was) {
  {
    const auto step = out.at.field("spec");
    check_unchanged(out, "group", now.spec().group(), was.spec().group());
    const bool established = condition_holds(was, "Established");
    if (established) check_unchanged(out, "scope", now.spec().scope(), was.spec().scope());
    const auto names = out.at.field("names");
    check_unchanged(out, "plural", now.spec().names().plural(), was.spec().names().plural());
    if (established)
      check_unchanged(out, "kind", now.spec().names().kind(), was.spec().names().kind());
  }
  if (!was.spec().preserve_unknown_fields()) check_preservation(out, now.spec());
  check_stored_versions(out, now);
}

void check_status(field_errors& out, const CustomResourceDefinition& now) {
  {
    const auto status = out.at.field("status");
    const auto names = out.at.field("acceptedNames");
    check_names(out, now.status().accepted_names());
  }
  check_stored_versions(out, now);
}

}  // namespace troupe::api::definitions
