// Names, labels, owners and the rest of metadata.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "api/kind_row.hpp"
#include "api/limits.hpp"
#include "api/object/object.hpp"
#include "api/validation/checks.hpp"
#include "api/validation/validation.hpp"
#include "api/values/ascii.hpp"

namespace troupe::api::validation {
namespace {

using meta::v1::ObjectMeta;

// The generated name, with a letter in place of a trailing dash.
std::string as_name(const std::string& prefix) {
  if (prefix.size() < 2 || prefix.back() != '-') return prefix;
  return prefix.substr(0, prefix.size() - 2) + "a";
}

void check_space(field_errors& out, const kind_info& kind, const ObjectMeta& meta) {
  if (!kind.namespaced()) {
    if (!meta.namespace_().empty()) out.forbidden("namespace", "not allowed on this type");
  } else if (meta.namespace_().empty()) {
    out.required("namespace");
  } else {
    out.each("namespace", meta.namespace_(), check_dns_label(meta.namespace_()));
  }
}

void check_owner(field_errors& out, const meta::v1::OwnerReference& owner) {
  const auto& version = owner.api_version();
  const auto slash = version.find('/');
  if (version.empty())
    out.required("apiVersion", "must not be empty");
  else if (slash != std::string::npos &&
           (slash + 1 == version.size() || version.find('/', slash + 1) != std::string::npos))
    out.invalid("apiVersion", version, "must be <group>/<version> or <version>");
  if (owner.kind().empty()) out.required("kind", "must not be empty");
  if (owner.name().empty()) out.required("name", "must not be empty");
  if (owner.uid().empty()) out.required("uid", "must not be empty");
  if (version == "v1" && owner.kind() == "Event")
    out.invalid("kind", owner.kind(), "/v1, Kind=Event is disallowed from being an owner");
}

void check_owners(field_errors& out, const ObjectMeta& meta) {
  const meta::v1::OwnerReference* controller = nullptr;
  for (int i = 0; i < meta.owner_references_size(); ++i) {
    const auto& owner = meta.owner_references(i);
    {
      const auto step = out.at.item("ownerReferences", i);
      check_owner(out, owner);
    }
    if (!owner.controller()) continue;
    if (controller)
      out.invalid(
          "ownerReferences", owner.name(),
          "Only one reference can have Controller set to true. Found \"true\" in references "
          "for " +
              controller->kind() + "/" + controller->name() + " and " + owner.kind() + "/" +
              owner.name());
    else
      controller = &owner;
  }
}

void check_finalizers(field_errors& out, const ObjectMeta& meta) {
  const auto& all = meta.finalizers();
  for (const auto& finalizer : all)
    out.each("finalizers", finalizer, check_qualified_name(finalizer));
  const auto has = [&](std::string_view name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  if (has("orphan") && has("foregroundDeletion"))
    out.invalid("finalizers", "orphan",
                "finalizer orphan and finalizer foregroundDeletion cannot be both set");
}

// kubernetes: pkg/apis/core/validation, validateKubeFinalizerName, which custom kinds and these
// groups do not use.
bool may_name_any_finalizer(const kind_info& kind) {
  static constexpr std::array<std::string_view, 4> groups{
      "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
      "coordination.k8s.io"};
  return kind.custom() || std::find(groups.begin(), groups.end(), kind.group()) != groups.end();
}

// The index of each finalizer that `was` (may be null) does not have, and that is neither standard
// nor has a path.
std::vector<int> unusual_finalizers(const ObjectMeta& now, const ObjectMeta* was) {
  static constexpr std::array<std::string_view, 3> standard{"kubernetes", "orphan",
                                                            "foregroundDeletion"};
  std::vector<int> out;
  for (int i = 0; i < now.finalizers_size(); ++i) {
    const auto& name = now.finalizers(i);
    const auto is_name = [&name](std::string_view other) { return other == name; };
    if (name.find('/') != name.npos || std::any_of(standard.begin(), standard.end(), is_name))
      continue;
    if (was == nullptr || std::none_of(was->finalizers().begin(), was->finalizers().end(), is_name))
      out.push_back(i);
  }
  return out;
}

void check_managed_fields(field_errors& out, const ObjectMeta& meta) {
  for (int i = 0; i < meta.managed_fields_size(); ++i) {
    const auto step = out.at.item("managedFields", i);
    const auto& entry = meta.managed_fields(i);
    if (entry.operation() != "Apply" && entry.operation() != "Update")
      out.invalid("operation", entry.operation(), "must be `Apply` or `Update`");
    if (!entry.fields_type().empty() && entry.fields_type() != "FieldsV1")
      out.invalid("fieldsType", entry.fields_type(), "must be `FieldsV1`");
    if (entry.manager().size() > limits::field_manager_bytes)
      out.too_long("manager", limits::field_manager_bytes);
    if (entry.subresource().size() > limits::subresource_bytes)
      out.too_long("subresource", limits::subresource_bytes);
  }
}

// Checks fields that only the server sets, once.
void check_kept(field_errors& out, const ObjectMeta& now, const ObjectMeta& was) {
  constexpr std::string_view fixed = "field is immutable";
  if (now.name() != was.name()) out.invalid("name", now.name(), fixed);
  if (now.namespace_() != was.namespace_()) out.invalid("namespace", now.namespace_(), fixed);
  if (now.uid() != was.uid()) out.invalid("uid", now.uid(), fixed);
  if (now.creation_timestamp().seconds() != was.creation_timestamp().seconds())
    out.invalid("creationTimestamp", now.creation_timestamp().seconds(), fixed);
  constexpr std::string_view by_deletion = "field is immutable; may only be changed via deletion";
  if (now.has_deletion_timestamp() != was.has_deletion_timestamp() ||
      now.deletion_timestamp().seconds() != was.deletion_timestamp().seconds())
    out.invalid("deletionTimestamp", now.deletion_timestamp().seconds(), by_deletion);
  if (now.deletion_grace_period_seconds() != was.deletion_grace_period_seconds())
    out.invalid("deletionGracePeriodSeconds", now.deletion_grace_period_seconds(), by_deletion);
}

}  // namespace

void check_new_finalizers(field_errors& out, const kind_info& kind, const ObjectMeta& now,
                          const ObjectMeta* was) {
  if (may_name_any_finalizer(kind)) return;
  const auto step = out.at.field("metadata");
  for (const int i : unusual_finalizers(now, was)) {
    const auto item = out.at.item("finalizers", i);
    out.invalid({}, now.finalizers(i),
                "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void check_labels(field_errors& out, std::string_view field, const label_map& labels) {
  // Sorted by key: equal objects get equal responses.
  const std::map<std::string_view, std::string_view> sorted(labels.begin(), labels.end());
  for (const auto& [key, value] : sorted) {
    out.each(field, key, check_qualified_name(key));
    out.each(field, value, check_label_value(value));
  }
}

void check_annotations(field_errors& out, const label_map& annotations) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    bytes += key.size() + value.size();
    out.each("annotations", key, check_qualified_name(to_lower(key)));
  }
  if (bytes > limits::annotations_bytes) out.too_long("annotations", limits::annotations_bytes);
}

void check_label_selector(field_errors& out, const meta::v1::LabelSelector& selector) {
  check_labels(out, "matchLabels", selector.match_labels());
  for (int i = 0; i < selector.match_expressions_size(); ++i) {
    const auto step = out.at.item("matchExpressions", i);
    const auto& one = selector.match_expressions(i);
    const auto& op = one.operator_();
    if ((op == "In" || op == "NotIn") && one.values().empty())
      out.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
    if ((op == "Exists" || op == "DoesNotExist") && !one.values().empty())
      out.forbidden("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    for (int v = 0; v < one.values_size(); ++v) {
      const auto inner = out.at.item("values", v);
      out.each({}, one.values(v), check_label_value(one.values(v)));
    }
  }
}

void check_meta(field_errors& out, const kind_info& kind, const ObjectMeta& meta) {
  const auto step = out.at.field("metadata");
  if (!meta.generate_name().empty())
    out.each("generateName", meta.generate_name(),
             check_syntax(kind.row().name, as_name(meta.generate_name())));
  if (meta.name().empty())
    out.required("name", "name or generateName is required");
  else
    out.each("name", meta.name(), check_syntax(kind.row().name, meta.name()));
  check_space(out, kind, meta);
  if (meta.generation() < 0)
    out.invalid("generation", meta.generation(), "must be greater than or equal to 0");
  check_labels(out, "labels", meta.labels());
  check_annotations(out, meta.annotations());
  check_owners(out, meta);
  check_finalizers(out, meta);
  check_managed_fields(out, meta);
}

void check_meta_update(field_errors& out, const ObjectMeta& now, const ObjectMeta& was) {
  const auto step = out.at.field("metadata");
  check_kept(out, now, was);
  if (now.generation() < was.generation())
    out.invalid("generation", now.generation(), "must not be decremented");
  if (!was.has_deletion_timestamp()) return;
  for (const auto& finalizer : now.finalizers()) {
    const auto& before = was.finalizers();
    if (std::find(before.begin(), before.end(), finalizer) == before.end())
      out.forbidden("finalizers",
                    "no new finalizers can be added if the object is being deleted, found new "
                    "finalizers []string{" +
                        quoted(finalizer) + "}");
  }
}

}  // namespace troupe::api::validation

namespace troupe::api {

std::vector<std::string> finalizer_warnings(const body& now, const body* was) {
  std::vector<std::string> out;
  const auto& meta = meta_of(now);
  for (const int i :
       validation::unusual_finalizers(meta, was == nullptr ? nullptr : &meta_of(*was)))
    out.push_back("metadata.finalizers: " + quoted(meta.finalizers(i)) +
                  ": prefer a domain-qualified finalizer name including a path (/) to avoid "
                  "accidental conflicts with other finalizer writers");
  return out;
}

}  // namespace troupe::api
