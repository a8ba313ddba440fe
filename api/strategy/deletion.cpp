// Plans the deletion of an object, and decides when a pending deletion ends.
#include <google/protobuf/message.h>

#include <algorithm>
#include <limits>

#include "api/codec/json_text.hpp"
#include "api/equality.hpp"
#include "api/kind_row.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_request.pb.h"
#include "api/strategy/special_kinds.hpp"
#include "api/validation/validation.hpp"

namespace troupe::api {
namespace {

using meta::v1::DeleteOptions;
using meta::v1::ObjectMeta;

constexpr std::string_view orphan = "orphan";
constexpr std::string_view foreground = "foregroundDeletion";

bool has(const google::protobuf::RepeatedPtrField<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The propagation policy: from the options, else from an existing finalizer, else from the
// kind.
std::string_view propagation(const kind_info& kind, const ObjectMeta& meta,
                             const DeleteOptions& options) {
  if (!kind.row().has_dependents) return "Background";
  if (options.has_orphan_dependents()) return options.orphan_dependents() ? "Orphan" : "Background";
  if (options.has_propagation_policy()) return options.propagation_policy();
  if (has(meta.finalizers(), orphan)) return "Orphan";
  if (has(meta.finalizers(), foreground)) return "Foreground";
  const auto& usual = kind.options().default_propagation();
  return usual.empty() ? std::string_view("Background") : std::string_view(usual);
}

void set_finalizers(ObjectMeta& meta, std::string_view policy) {
  google::protobuf::RepeatedPtrField<std::string> finalizers;
  for (const auto& one : meta.finalizers())
    if (one != orphan && one != foreground) *finalizers.Add() = one;
  if (policy == "Orphan") *finalizers.Add() = orphan;
  if (policy == "Foreground") *finalizers.Add() = foreground;
  // A different order alone is not a change.
  const bool same =
      finalizers.size() == meta.finalizers_size() &&
      std::is_permutation(finalizers.begin(), finalizers.end(), meta.finalizers().begin());
  if (!same) *meta.mutable_finalizers() = std::move(finalizers);
}

// 68 years: later end times could not be written.
constexpr std::int64_t longest_grace = std::numeric_limits<std::int32_t>::max();

void mark(ObjectMeta& meta, std::int64_t at_seconds, std::int64_t grace_seconds) {
  if (!meta.has_deletion_timestamp() && meta.generation() > 0)
    meta.set_generation(meta.generation() + 1);
  if (!meta.has_deletion_timestamp() || meta.deletion_timestamp().seconds() > at_seconds) {
    meta.mutable_deletion_timestamp()->Clear();
    meta.mutable_deletion_timestamp()->set_seconds(at_seconds);
  }
  meta.set_deletion_grace_period_seconds(grace_seconds);
}

std::int64_t grace_of(const core::v1::Pod& pod, const DeleteOptions& options) {
  // It does not run: no grace period is needed.
  const auto& phase = pod.status().phase();
  if (pod.spec().node_name().empty() || phase == "Failed" || phase == "Succeeded") return 0;
  const auto requested = options.has_grace_period_seconds()
                             ? options.grace_period_seconds()
                             : pod.spec().termination_grace_period_seconds();
  return requested < 0 ? 1 : std::min(requested, longest_grace);
}

enum class grace { none, set, pending };

// A first deletion sets the grace; a later one may only shorten it, counted from the same start.
grace set_grace(ObjectMeta& meta, const core::v1::Pod& pod, const DeleteOptions& options,
                std::int64_t now_seconds) {
  if (!meta.has_deletion_timestamp()) {
    const auto seconds = grace_of(pod, options);
    mark(meta, now_seconds + seconds, seconds);
    return grace::set;
  }
  if (!meta.has_deletion_grace_period_seconds()) return grace::none;
  const auto before = meta.deletion_grace_period_seconds();
  if (!options.has_grace_period_seconds() || options.grace_period_seconds() >= before)
    return grace::pending;
  const auto seconds = std::max<std::int64_t>(options.grace_period_seconds(), 0);
  const auto start = meta.deletion_timestamp().seconds() - before;
  mark(meta, start + seconds, seconds);
  return grace::set;
}

// Only metadata changes: the object is copied when it is known that it does.
deletion_plan with_metadata(const body& stored, ObjectMeta meta) {
  if (same_meaning(meta, meta_of(stored))) return {deletion_step::unchanged, nullptr};
  std::unique_ptr<body> next(stored.New());
  next->CopyFrom(stored);
  meta_of(*next) = std::move(meta);
  return {deletion_step::update, std::move(next)};
}

expected<void> check_options(const kind_info& kind, const body& stored,
                             const DeleteOptions& options) {
  auto causes = validate_message(options);
  if (options.has_orphan_dependents() && options.has_propagation_policy())
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"" + options.propagation_policy() +
                          "\": orphanDependents and deletionPropagation cannot be both set",
                      "propagationPolicy"});
  if (causes.empty()) return {};
  auto e = invalid(kind, meta_of(stored).name(), std::move(causes));
  e.group = "meta.k8s.io";
  e.kind = "DeleteOptions";
  return fail(std::move(e));
}

expected<void> demand(const kind_info& kind, const std::string& name, std::string_view member,
                      const std::string& demanded, const std::string& present,
                      std::string_view cause) {
  if (demanded == present) return {};
  auto refused = conflict(kind, name, {});
  refused.kind = kind.kind();
  refused.message = "Operation cannot be fulfilled on " + kind.qualified_kind() + " " +
                    quoted(name) + ": the " + std::string{member} + " in the precondition (" +
                    demanded + ") does not match the " + std::string{member} + " in record (" +
                    present + "). The object might have been " + std::string{cause};
  return fail(std::move(refused));
}

}  // namespace

deletion_plan plan_delete(const kind_info& kind, const core::v1::Pod& stored,
                          const DeleteOptions& options, std::int64_t now_seconds) {
  auto meta = stored.metadata();
  const auto grace_change = set_grace(meta, stored, options, now_seconds);
  if (grace_change == grace::pending) {
    // The grace period is over: remove the pod.
    if (meta.deletion_grace_period_seconds() == 0 && meta.finalizers().empty())
      return {deletion_step::remove, nullptr};
    return {deletion_step::unchanged, nullptr};
  }
  set_finalizers(meta, propagation(kind, meta, options));
  if (meta.finalizers().empty() &&
      (grace_change == grace::none || meta.deletion_grace_period_seconds() == 0))
    return {deletion_step::remove, nullptr};
  return with_metadata(stored, std::move(meta));
}

// A namespace is emptied first, by the controller that removes "kubernetes" from spec.finalizers.
deletion_plan plan_delete(const core::v1::Namespace& stored, std::int64_t now_seconds) {
  if (stored.metadata().has_deletion_timestamp()) {
    if (!stored.spec().finalizers().empty() || !stored.metadata().finalizers().empty())
      return {deletion_step::unchanged, nullptr};
    return {deletion_step::remove, nullptr};
  }
  auto ns = std::make_unique<core::v1::Namespace>(stored);
  ns->mutable_metadata()->mutable_deletion_timestamp()->set_seconds(now_seconds);
  ns->mutable_status()->set_phase("Terminating");
  return {deletion_step::update, std::move(ns)};
}

expected<void> check_preconditions(const kind_info& kind, const body& stored,
                                   std::uint64_t stored_revision,
                                   const meta::v1::Preconditions& demanded) {
  const auto& meta = meta_of(stored);
  if (demanded.has_uid())
    if (auto fits = demand(kind, meta.name(), "UID", demanded.uid(), meta.uid(),
                           "deleted and then recreated");
        !fits)
      return fits;
  if (!demanded.has_resource_version()) return {};
  return demand(kind, meta.name(), "ResourceVersion", demanded.resource_version(),
                std::to_string(stored_revision), "modified");
}

expected<deletion_plan> plan_delete(const kind_info& kind, const body& stored,
                                    std::uint64_t stored_revision, const DeleteOptions& options,
                                    std::int64_t now_seconds) {
  if (auto fine = check_options(kind, stored, options); !fine) return fail(std::move(fine.error()));
  if (auto fits = check_preconditions(kind, stored, stored_revision, options.preconditions());
      !fits)
    return fail(std::move(fits.error()));

  if (const auto special = kind.row().plan_delete)
    return special(kind, stored, options, now_seconds);

  auto meta = meta_of(stored);
  set_finalizers(meta, propagation(kind, meta, options));
  if (meta.finalizers().empty()) return deletion_plan{deletion_step::remove, nullptr};
  mark(meta, now_seconds, 0);
  return with_metadata(stored, std::move(meta));
}

bool ends_deletion(const kind_info& kind, const body& now, const body& was) {
  if (!meta_of(now).finalizers().empty() || !meta_of(was).has_deletion_timestamp()) return false;
  if (kind.row().holds_deletion != nullptr && kind.row().holds_deletion(now)) return false;
  return meta_of(was).deletion_grace_period_seconds() == 0;
}

}  // namespace troupe::api
