// Pods.
#include "api/conversion/conversion.hpp"
#include "api/conversion/default_copy.hpp"
#include "api/v1beta1/conversion.hpp"

namespace troupe::api::v1beta1 {
namespace {

struct policy_words {
  std::string_view old_word;
  std::string_view word;
};
constexpr policy_words restart_policies[] = {
    {"RestartAlways", "Always"}, {"RestartOnFailure", "OnFailure"}, {"RestartNever", "Never"}};

bool says_nothing(const RestartPolicy& policy) {
  return policy.type().empty() && !policy.has_always() && !policy.has_on_failure() &&
         !policy.has_never();
}

// The hub's word; empty if the policy is empty.
std::string word_of(const RestartPolicy& policy) {
  if (policy.has_always()) return "Always";
  if (policy.has_on_failure()) return "OnFailure";
  if (policy.has_never()) return "Never";
  for (const auto& each : restart_policies)
    if (each.old_word == policy.type()) return std::string(each.word);
  return policy.type();
}

// Sets the forms of v0.2 and v0.3.
void set_word(std::string_view word, RestartPolicy& to) {
  to.Clear();
  if (word.empty()) return;
  to.set_type(std::string(word));
  for (const auto& each : restart_policies)
    if (each.word == word) to.set_type(std::string(each.old_word));
  if (word == "Always") to.mutable_always();
  if (word == "OnFailure") to.mutable_on_failure();
  if (word == "Never") to.mutable_never();
}

const RestartPolicy& policy_of(const PodState& state) {
  return says_nothing(state.manifest().restart_policy()) ? state.restart_policy()
                                                         : state.manifest().restart_policy();
}

// Before v1beta1 a manifest was one container.
constexpr const char* only_container = "main";

void from_container_state(const core::v1::ContainerStatus& from, ContainerStatus& to) {
  const auto& state = from.state();
  auto& out = *to.mutable_state();
  if (state.has_waiting()) default_copy(state.waiting(), *out.mutable_waiting());
  if (state.has_running()) default_copy(state.running(), *out.mutable_running());
  if (state.has_terminated()) default_copy(state.terminated(), *out.mutable_termination());
  if (out.ByteSizeLong() == 0) to.clear_state();
  if (from.restart_count() != 0) to.set_restart_count(from.restart_count());
  if (!from.image().empty()) to.set_image(from.image());
}

void to_container_state(const std::string& name, const ContainerStatus& from,
                        core::v1::ContainerStatus& to) {
  to.set_name(name);
  const auto& state = from.state();
  if (state.has_waiting()) default_copy(state.waiting(), *to.mutable_state()->mutable_waiting());
  if (state.has_running()) default_copy(state.running(), *to.mutable_state()->mutable_running());
  if (state.has_termination())
    default_copy(state.termination(), *to.mutable_state()->mutable_terminated());
  if (from.restart_count() != 0) to.set_restart_count(from.restart_count());
  if (!from.image().empty()) to.set_image(from.image());
}

std::string old_phase(const std::string& phase) {
  if (phase == "Pending") return "Waiting";
  if (phase == "Succeeded" || phase == "Failed") return "Terminated";
  return phase;
}
std::string phase_of(const std::string& status) {
  if (status == "Waiting") return "Pending";
  if (status == "Terminated") return "Succeeded";
  return status;
}

void to_status(const PodState& from, core::v1::PodStatus& to) {
  if (!from.status().empty()) to.set_phase(phase_of(from.status()));
  if (!from.message().empty()) to.set_message(from.message());
  if (!from.host_ip().empty()) to.set_host_ip(from.host_ip());
  if (!from.pod_ip().empty()) to.set_pod_ip(from.pod_ip());
  // Sorted, so that equal states give equal statuses.
  const std::map<std::string, ContainerStatus> info(from.info().begin(), from.info().end());
  for (const auto& [name, state] : info)
    to_container_state(name, state, *to.add_container_statuses());
}

void from_status(const core::v1::PodStatus& from, const std::string& host, PodState& to) {
  if (!from.phase().empty()) to.set_status(old_phase(from.phase()));
  if (!from.message().empty()) to.set_message(from.message());
  if (!host.empty()) to.set_host(host);
  if (!from.host_ip().empty()) to.set_host_ip(from.host_ip());
  if (!from.pod_ip().empty()) to.set_pod_ip(from.pod_ip());
  for (const auto& each : from.container_statuses())
    from_container_state(each, (*to.mutable_info())[each.name()]);
}

void to_pod(const Pod& from, core::v1::Pod& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  to_labels(from.labels(), *to.mutable_metadata()->mutable_labels());
  to_spec(from.desired_state(), from.node_selector(), *to.mutable_spec());
  to_status(from.current_state(), *to.mutable_status());
  if (to.status().ByteSizeLong() == 0) to.clear_status();
}

void from_pod(const core::v1::Pod& from, Pod& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  *to.mutable_labels() = from.metadata().labels();
  auto& wanted = *to.mutable_desired_state();
  from_spec(from.spec(), wanted, *to.mutable_node_selector());
  if (!from.metadata().uid().empty()) wanted.mutable_manifest()->set_uuid(from.metadata().uid());
  from_status(from.status(), from.spec().node_name(), *to.mutable_current_state());
}

void fill_pod(Pod& content) {
  auto& wanted = *content.mutable_desired_state();
  auto& manifest = *wanted.mutable_manifest();
  if (manifest.id().empty() && !content.meta().id().empty()) manifest.set_id(content.meta().id());
  // The desired status of a pod is Running.
  if (wanted.status().empty()) wanted.set_status("Running");
  fill_state(wanted);
}

}  // namespace

void to_spec(const PodState& from, const label_map& node_selector, core::v1::PodSpec& to) {
  const auto& manifest = from.manifest();
  for (const auto& each : manifest.volumes())
    to_volume(each, *to.add_volumes());
  for (const auto& each : manifest.containers())
    to_container(each, *to.add_containers());
  if (manifest.containers().empty() && !manifest.image().empty()) {
    auto& only = *to.add_containers();
    only.set_name(only_container);
    only.set_image(manifest.image());
    for (const auto& each : manifest.network_ports())
      default_copy(each, *only.add_ports());
  }
  if (auto word = word_of(policy_of(from)); !word.empty()) to.set_restart_policy(std::move(word));
  if (!from.host().empty()) to.set_node_name(from.host());
  to_labels(node_selector, *to.mutable_node_selector());
}

void from_spec(const core::v1::PodSpec& from, PodState& to, label_map& node_selector) {
  auto& manifest = *to.mutable_manifest();
  for (const auto& each : from.volumes())
    from_volume(each, *manifest.add_volumes());
  for (const auto& each : from.containers())
    from_container(each, *manifest.add_containers());
  set_word(from.restart_policy(), *to.mutable_restart_policy());
  if (!from.node_name().empty()) to.set_host(from.node_name());
  node_selector = from.node_selector();
}

void fill_state(PodState& content) {
  auto& manifest = *content.mutable_manifest();
  if (manifest.version().empty()) manifest.set_version("v1beta1");
  for (auto& each : *manifest.mutable_containers())
    fill_container(each);
  const std::string word = word_of(policy_of(content));
  set_word(word, *manifest.mutable_restart_policy());
  set_word(word, *content.mutable_restart_policy());
  if (word.empty()) {
    manifest.clear_restart_policy();
    content.clear_restart_policy();
  }
}

void register_pods(conversions& to) {
  to.add_kind<Pod, core::v1::Pod>();
  to.add_conversion(&to_pod);
  to.add_conversion(&from_pod);
  to.add_defaults(&fill_pod);
}

}  // namespace troupe::api::v1beta1
