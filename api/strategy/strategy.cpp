#include "api/strategy/strategy.hpp"

#include <google/protobuf/message.h>

#include "api/equality.hpp"
#include "api/kind_row.hpp"
#include "api/limits.hpp"
#include "api/object/object.hpp"
#include "api/strategy/special_kinds.hpp"
#include "api/values/integer.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using meta::v1::ObjectMeta;

// Copies one field from another message of the type, or its absence.
void copy_field(body& into, const body& from, const FieldDescriptor* field) {
  const auto& reflection = *into.GetReflection();
  reflection.ClearField(&into, field);
  if (!reflection.HasField(from, field)) return;
  reflection.MutableMessage(&into, field)->CopyFrom(reflection.GetMessage(from, field));
}

void keep_all_but_status(body& now, const body& was) {
  const auto& reflection = *now.GetReflection();
  for (int i = 0; i < now.GetDescriptor()->field_count(); ++i) {
    const auto* field = now.GetDescriptor()->field(i);
    if (field->name() == "metadata" || field->name() == "status") continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated())
      copy_field(now, was, field);
    else
      reflection.ClearField(&now, field);
  }
}

// Restores the fields that a client can neither set nor remove.
void keep_identity(ObjectMeta& now, const ObjectMeta& was) {
  now.set_name(was.name());
  if (now.namespace_().empty() && !was.namespace_().empty()) now.set_namespace_(was.namespace_());
  if (was.has_generate_name()) now.set_generate_name(was.generate_name());
  now.clear_self_link();
  now.set_uid(was.uid());
  *now.mutable_creation_timestamp() = was.creation_timestamp();
  if (was.has_deletion_timestamp())
    *now.mutable_deletion_timestamp() = was.deletion_timestamp();
  else
    now.clear_deletion_timestamp();
  if (was.has_deletion_grace_period_seconds())
    now.set_deletion_grace_period_seconds(was.deletion_grace_period_seconds());
  else
    now.clear_deletion_grace_period_seconds();
  if (was.has_generation())
    now.set_generation(was.generation());
  else
    now.clear_generation();
}

// By default all fields except metadata and status are the desired state.
bool wants_the_same(const kind_info& kind, const body& now, const body& was) {
  const auto same = kind.row().same_desired_state;
  return same != nullptr ? same(kind, now, was) : same_but_status(now, was);
}

void begin(const kind_info& kind, body& content) {
  if (kind.row().begin != nullptr)
    kind.row().begin(kind, content);
  else
    clear_status(content);
}

}  // namespace

std::string generate_name(std::string_view base, const random_bits& random) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string name(base.substr(0, limits::generated_name_bytes - limits::generated_suffix_bytes));
  auto bits = random();
  for (std::size_t i = 0; i < limits::generated_suffix_bytes; ++i) {
    name += alphabet[bits % alphabet.size()];
    bits /= alphabet.size();
  }
  return name;
}

expected<void> settle_namespace(const kind_info& kind, body& content, std::string_view ns) {
  auto& meta = meta_of(content);
  if (!kind.namespaced()) {
    meta.clear_namespace_();
  } else if (meta.namespace_().empty()) {
    meta.set_namespace_(std::string(ns));
  } else if (meta.namespace_() != ns) {
    return fail(bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  return {};
}

void prepare_create(const kind_info& kind, body& content, const creation& by) {
  auto& meta = meta_of(content);
  meta.clear_resource_version();
  meta.clear_self_link();
  meta.clear_deletion_timestamp();
  meta.clear_deletion_grace_period_seconds();
  if (meta.name().empty() && !meta.generate_name().empty())
    meta.set_name(generate_name(meta.generate_name(), by.random));
  meta.set_uid(std::string(by.uid));
  meta.mutable_creation_timestamp()->Clear();
  meta.mutable_creation_timestamp()->set_seconds(by.now_seconds);
  if (kind.options().has_generation())
    meta.set_generation(1);
  else
    meta.clear_generation();
  begin(kind, content);
}

expected<precondition> precondition_of(const body& content) {
  const auto& meta = meta_of(content);
  precondition made;
  made.uid = meta.uid();
  const auto& text = meta.resource_version();
  if (text.empty()) return made;
  const auto revision = parse_integer<std::uint64_t>(text);
  if (!revision)
    return fail(bad_request("invalid resourceVersion \"" + text + "\": it must be a number"));
  made.revision = *revision;
  return made;
}

expected<void> check_precondition(const kind_info& kind, const precondition& demanded,
                                  const body& stored, std::uint64_t stored_revision) {
  const auto& meta = meta_of(stored);
  if (!demanded.uid.empty() && demanded.uid != meta.uid())
    return fail(conflict(kind, meta.name(),
                         "Precondition failed: UID in precondition: " + demanded.uid +
                             ", UID in object meta: " + meta.uid()));
  if (demanded.revision != 0 && demanded.revision != stored_revision)
    return fail(conflict(kind, meta.name(),
                         "the object has been modified; please apply your changes to the latest "
                         "version and try again"));
  return {};
}

void prepare_update(const kind_info& kind, body& now, const body& was) {
  keep_identity(meta_of(now), meta_of(was));
  if (const auto* status = kind.type().FindFieldByName("status");
      status && kind.options().has_status())
    copy_field(now, was, status);
  if (kind.row().keep != nullptr) kind.row().keep(kind, now, was);
  if (kind.options().has_generation() && !wants_the_same(kind, now, was))
    meta_of(now).set_generation(meta_of(was).generation() + 1);
}

void prepare_status_update(const kind_info& kind, body& now, const body& was) {
  keep_identity(meta_of(now), meta_of(was));
  if (kind.row().keep_in_status_update != nullptr)
    kind.row().keep_in_status_update(now, was);
  else
    keep_all_but_status(now, was);
  // A status write must not change owners.
  *meta_of(now).mutable_owner_references() = meta_of(was).owner_references();
  if (kind.row().status_keeps_labels) *meta_of(now).mutable_labels() = meta_of(was).labels();
}

void prepare_ephemeral_containers(body& now, const body& was) {
  auto& pod = static_cast<core::v1::Pod&>(now);
  auto added = std::move(*pod.mutable_spec()->mutable_ephemeral_containers());
  pod.CopyFrom(was);
  const bool changes = added.size() != pod.spec().ephemeral_containers_size();
  *pod.mutable_spec()->mutable_ephemeral_containers() = std::move(added);
  if (changes) pod.mutable_metadata()->set_generation(pod.metadata().generation() + 1);
}

namespace {

using containers = google::protobuf::RepeatedPtrField<core::v1::Container>;

// Restores all of each container except its resources. Validation handles added ones.
void take_resources(containers& now, const containers& was) {
  for (auto& container : now)
    for (const auto& before : was) {
      if (before.name() != container.name()) continue;
      auto resources = std::move(*container.mutable_resources());
      container = before;
      if (container.has_resources() || resources.ByteSizeLong() != 0)
        *container.mutable_resources() = std::move(resources);
    }
}

}  // namespace

void prepare_pod_resize(body& now, const body& was) {
  auto& pod = static_cast<core::v1::Pod&>(now);
  const auto& before = static_cast<const core::v1::Pod&>(was);
  auto sent = std::move(*pod.mutable_spec());
  pod.CopyFrom(was);
  auto& spec = *pod.mutable_spec();
  take_resources(*sent.mutable_containers(), before.spec().containers());
  take_resources(*sent.mutable_init_containers(), before.spec().init_containers());
  *spec.mutable_containers() = std::move(*sent.mutable_containers());
  *spec.mutable_init_containers() = std::move(*sent.mutable_init_containers());
  if (!same_meaning(spec, before.spec()))
    pod.mutable_metadata()->set_generation(before.metadata().generation() + 1);
}

void prepare_finalize(body& now, const body& was) {
  auto& ns = static_cast<core::v1::Namespace&>(now);
  auto finalizers = std::move(*ns.mutable_spec()->mutable_finalizers());
  ns.CopyFrom(was);
  *ns.mutable_spec()->mutable_finalizers() = std::move(finalizers);
}

}  // namespace troupe::api
