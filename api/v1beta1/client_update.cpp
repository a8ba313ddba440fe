// Fields that a client of 2014 cannot or need not send in an update.
#include <google/protobuf/message.h>

#include <algorithm>

#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"

namespace troupe::api::v1beta1 {
namespace {

void fill(Container& now, const Container& was) {
  if (was.privileged() && !now.has_privileged()) now.set_privileged(true);
  // The default depends on the image and is never PullNever.
  if (now.image_pull_policy().empty() &&
      (now.image() == was.image() || was.image_pull_policy() == "PullNever"))
    now.set_image_pull_policy(was.image_pull_policy());
}

void fill(PodState& now, const PodState& was, client_version by) {
  if (!now.has_restart_policy() && was.has_restart_policy()) {
    *now.mutable_restart_policy() = was.restart_policy();
    *now.mutable_manifest()->mutable_restart_policy() = was.restart_policy();
  }
  if (by != client_version::v0_2) return;
  const auto& before = was.manifest().containers();
  for (auto& each : *now.mutable_manifest()->mutable_containers()) {
    const auto found = std::find_if(before.begin(), before.end(), [&](const Container& other) {
      return other.name() == each.name();
    });
    if (found != before.end()) fill(each, *found);
  }
}

template <class T>
void fill_nodes(T& now, const T& was, client_version by) {
  if (by != client_version::v0_6 && now.node_selector().empty())
    *now.mutable_node_selector() = was.node_selector();
}

void fill(Pod& now, const Pod& was, client_version by) {
  auto& wanted = *now.mutable_desired_state();
  // Only the server sets the host (upstream: pkg/registry/pod, UpdatePod).
  wanted.set_host(was.desired_state().host());
  if (wanted.manifest().uuid().empty())
    wanted.mutable_manifest()->set_uuid(was.desired_state().manifest().uuid());
  *now.mutable_current_state() = was.current_state();
  fill(wanted, was.desired_state(), by);
  fill_nodes(now, was, by);
}

void fill(ReplicationController& now, const ReplicationController& was, client_version by) {
  if (was.has_current_state()) *now.mutable_current_state() = was.current_state();
  auto& pods = *now.mutable_desired_state()->mutable_pod_template();
  const auto& before = was.desired_state().pod_template();
  fill(*pods.mutable_desired_state(), before.desired_state(), by);
  fill_nodes(pods, before, by);
}

// Upstream kept the address (pkg/registry/service, Update, since v0.5). The other fields have
// defaults, and a service's manifest does not tell which version wrote it.
void fill(Service& now, const Service& was, client_version by) {
  if (now.portal_ip().empty()) now.set_portal_ip(was.portal_ip());
  if (now.protocol().empty()) now.set_protocol(was.protocol());
  if (now.session_affinity().empty()) now.set_session_affinity(was.session_affinity());
  if (by != client_version::v0_6 && now.public_ips().empty())
    *now.mutable_public_ips() = was.public_ips();
}

void fill(Minion& now, const Minion& was, client_version by) {
  if (by != client_version::v0_6 && now.labels().empty()) *now.mutable_labels() = was.labels();
}

template <class T>
bool fill_as(body& now, const body& was, client_version by) {
  if (now.GetDescriptor() != T::descriptor()) return false;
  fill(static_cast<T&>(now), static_cast<const T&>(was), by);
  return true;
}

}  // namespace

void fill_from(body& content, const body& shown, client_version by) {
  auto& meta = type_meta(content);
  const auto& before = type_meta(shown);
  if (meta.id().empty()) meta.set_id(before.id());
  if (meta.uid().empty()) meta.set_uid(before.uid());
  if (meta.namespace_().empty()) meta.set_namespace_(before.namespace_());
  if (meta.annotations().empty()) *meta.mutable_annotations() = before.annotations();
  (void)(fill_as<Pod>(content, shown, by) || fill_as<ReplicationController>(content, shown, by) ||
         fill_as<Service>(content, shown, by) || fill_as<Minion>(content, shown, by));
}

}  // namespace troupe::api::v1beta1
