#include "api/strategy/strategy.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <charconv>

#include "api/equality.hpp"
#include "api/limits.hpp"
#include "api/object/object.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/strategy/new_pod.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using meta::v1::ObjectMeta;

template <class T>
T* as(body& content) {
  return content.GetDescriptor() == T::descriptor() ? static_cast<T*>(&content) : nullptr;
}
template <class T>
const T& same_type(const T&, const body& content) {
  return static_cast<const T&>(content);
}

// Takes one field over from another message of the type, absence too.
void copy_field(body& into, const body& from, const FieldDescriptor* field) {
  const auto& reflection = *into.GetReflection();
  reflection.ClearField(&into, field);
  if (!reflection.HasField(from, field)) return;
  reflection.MutableMessage(&into, field)->CopyFrom(reflection.GetMessage(from, field));
}

// All fields besides metadata and `changed`.
void keep_all_but(body& now, const body& was, std::string_view changed) {
  const auto& reflection = *now.GetReflection();
  for (int i = 0; i < now.GetDescriptor()->field_count(); ++i) {
    const auto* field = now.GetDescriptor()->field(i);
    if (field->name() == "metadata" || field->name() == changed) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated())
      copy_field(now, was, field);
    else
      reflection.ClearField(&now, field);
  }
}

// What a client can neither set nor take away.
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

bool same_labels(const google::protobuf::Map<std::string, std::string>& a,
                 const google::protobuf::Map<std::string, std::string>& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const auto found = b.find(key);
    if (found == b.end() || found->second != value) return false;
  }
  return true;
}

// Everything but metadata and status says what is wanted.
bool wants_the_same(const kind_info& kind, const body& now, const body& was) {
  for (int i = 0; i < kind.type().field_count(); ++i) {
    const auto* field = kind.type().field(i);
    if (field->name() != "metadata" && field->name() != "status" && !same_field(now, was, *field))
      return false;
  }
  // Annotations of a deployment go to its replica sets.
  return &kind.type() != apps::v1::Deployment::descriptor() ||
         same_labels(meta_of(now).annotations(), meta_of(was).annotations());
}

// What the server once chose for a service stays, where the client does not say otherwise.
void keep_allocations(core::v1::Service& now, const core::v1::Service& was) {
  auto& spec = *now.mutable_spec();
  if (spec.type() == "ExternalName" || was.spec().type() == "ExternalName") return;
  if (spec.cluster_ip().empty() && spec.cluster_ips().empty()) {
    if (was.spec().has_cluster_ip()) spec.set_cluster_ip(was.spec().cluster_ip());
    *spec.mutable_cluster_ips() = was.spec().cluster_ips();
  }
  if (spec.type() != was.spec().type()) return;
  for (auto& port : *spec.mutable_ports()) {
    if (port.node_port() != 0) continue;
    for (const auto& before : was.spec().ports())
      if (before.node_port() != 0 && before.port() == port.port() &&
          before.protocol() == port.protocol())
        port.set_node_port(before.node_port());
  }
}

void begin(const kind_info& kind, body& content) {
  if (auto* pod = as<core::v1::Pod>(content)) return initialize_pod(*pod);
  // A node that registers brings its status along.
  if (as<core::v1::Node>(content)) return;
  if (const auto* status = kind.type().FindFieldByName("status"))
    content.GetReflection()->ClearField(&content, status);
  if (auto* ns = as<core::v1::Namespace>(content)) {
    ns->mutable_status()->set_phase("Active");
    auto& finalizers = *ns->mutable_spec()->mutable_finalizers();
    if (std::find(finalizers.begin(), finalizers.end(), "kubernetes") == finalizers.end())
      finalizers.Add("kubernetes");
  }
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
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), made.revision);
  if (ec != std::errc() || end != text.data() + text.size())
    return fail(bad_request("invalid resourceVersion \"" + text + "\": it must be a number"));
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
  if (auto* ns = as<core::v1::Namespace>(now))
    *ns->mutable_spec()->mutable_finalizers() = same_type(*ns, was).spec().finalizers();
  if (auto* service = as<core::v1::Service>(now))
    keep_allocations(*service, same_type(*service, was));
  if (kind.options().has_generation() && !wants_the_same(kind, now, was))
    meta_of(now).set_generation(meta_of(was).generation() + 1);
}

void prepare_status_update(const kind_info& kind, body& now, const body& was) {
  keep_identity(meta_of(now), meta_of(was));
  keep_all_but(now, was, "status");
  // Who reports a status does not change owners, nor the labels of a deployment.
  *meta_of(now).mutable_owner_references() = meta_of(was).owner_references();
  if (&kind.type() == apps::v1::Deployment::descriptor())
    *meta_of(now).mutable_labels() = meta_of(was).labels();
}

void prepare_ephemeral_containers(body& now, const body& was) {
  auto& pod = static_cast<core::v1::Pod&>(now);
  auto added = std::move(*pod.mutable_spec()->mutable_ephemeral_containers());
  pod.CopyFrom(was);
  const bool changes = added.size() != pod.spec().ephemeral_containers_size();
  *pod.mutable_spec()->mutable_ephemeral_containers() = std::move(added);
  if (changes) pod.mutable_metadata()->set_generation(pod.metadata().generation() + 1);
}

void prepare_finalize(body& now, const body& was) {
  auto& ns = static_cast<core::v1::Namespace&>(now);
  auto finalizers = std::move(*ns.mutable_spec()->mutable_finalizers());
  ns.CopyFrom(was);
  *ns.mutable_spec()->mutable_finalizers() = std::move(finalizers);
}

}  // namespace troupe::api
