#include "api/strategy/defaults.hpp"

#include <google/protobuf/message.h>

#include "api/kind_row.hpp"
#include "api/strategy/special_kinds.hpp"

namespace troupe::api {

using namespace core::v1;

namespace {

using quantities = google::protobuf::Map<std::string, resource::Quantity>;

// The part after the last ':' of the last path component; "latest" if there is neither a tag nor a
// digest, and empty if there is only a digest.
std::string_view image_tag(std::string_view image) {
  const auto digest = image.find('@');
  const auto named = image.substr(0, digest);
  const auto slash = named.rfind('/');
  const auto colon = named.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) return named.substr(colon + 1);
  return digest == std::string_view::npos ? "latest" : "";
}

template <class C>
void default_container(C& container, bool host_network) {
  if (container.image_pull_policy().empty())
    container.set_image_pull_policy(image_tag(container.image()) == "latest" ? "Always"
                                                                             : "IfNotPresent");
  if (!host_network) return;
  for (auto& port : *container.mutable_ports())
    if (port.host_port() == 0) port.set_host_port(port.container_port());
}

}  // namespace

void default_pod_spec(PodSpec& spec) {
  for (auto& volume : *spec.mutable_volumes())
    if (volume.volume_source().ByteSizeLong() == 0)
      volume.mutable_volume_source()->mutable_empty_dir();
  for (auto& container : *spec.mutable_init_containers())
    default_container(container, spec.host_network());
  for (auto& container : *spec.mutable_containers())
    default_container(container, spec.host_network());
  for (auto& container : *spec.mutable_ephemeral_containers())
    default_container(*container.mutable_ephemeral_container_common(), false);
  // Two names of one field: both are set, for clients of either.
  if (spec.service_account_name().empty() && !spec.service_account().empty())
    spec.set_service_account_name(spec.service_account());
  if (!spec.service_account_name().empty()) spec.set_service_account(spec.service_account_name());
}

namespace {

void requests_from_limits(Container& container) {
  if (!container.has_resources()) return;
  auto& resources = *container.mutable_resources();
  for (const auto& [name, limit] : resources.limits())
    if (!resources.requests().contains(name)) (*resources.mutable_requests())[name] = limit;
}

}  // namespace

void complete(Pod& pod) {
  auto& spec = *pod.mutable_spec();
  default_pod_spec(spec);
  for (auto& container : *spec.mutable_init_containers())
    requests_from_limits(container);
  for (auto& container : *spec.mutable_containers())
    requests_from_limits(container);
}

void complete(PodTemplate& object) {
  default_pod_spec(*object.mutable_template_()->mutable_spec());
}

void complete(ReplicationController& object) {
  if (!object.spec().has_template_()) return;
  auto& spec = *object.mutable_spec();
  const auto& labels = spec.template_().metadata().labels();
  if (spec.selector().empty()) *spec.mutable_selector() = labels;
  if (object.metadata().labels().empty() && !labels.empty())
    *object.mutable_metadata()->mutable_labels() = labels;
  default_pod_spec(*spec.mutable_template_()->mutable_spec());
}

void complete(apps::v1::ReplicaSet& object) {
  default_pod_spec(*object.mutable_spec()->mutable_template_()->mutable_spec());
}

void complete(apps::v1::Deployment& object) {
  auto& spec = *object.mutable_spec();
  default_pod_spec(*spec.mutable_template_()->mutable_spec());
  auto& strategy = *spec.mutable_strategy();
  if (strategy.type() == "RollingUpdate") set_schema_defaults(*strategy.mutable_rolling_update());
}

namespace {

void default_traffic(ServiceSpec& spec) {
  const auto& type = spec.type();
  const bool outside = type == "NodePort" || type == "LoadBalancer";
  if (outside && spec.external_traffic_policy().empty())
    spec.set_external_traffic_policy("Cluster");
  if ((outside || type == "ClusterIP") && spec.internal_traffic_policy().empty())
    spec.set_internal_traffic_policy("Cluster");
  if (type == "LoadBalancer" && !spec.has_allocate_load_balancer_node_ports())
    spec.set_allocate_load_balancer_node_ports(true);
}

}  // namespace

void complete(Service& service) {
  // Kubernetes, core/v1 DefaultClientIPServiceAffinitySeconds.
  constexpr int affinity_timeout_seconds = 10'800;
  auto& spec = *service.mutable_spec();
  for (auto& port : *spec.mutable_ports()) {
    const auto& target = port.target_port();
    if (target.type() == 0 ? target.int_val() != 0 : !target.str_val().empty()) continue;
    port.mutable_target_port()->Clear();
    port.mutable_target_port()->set_type(0);
    port.mutable_target_port()->set_int_val(port.port());
  }
  if (spec.session_affinity() == "ClientIP") {
    auto& client = *spec.mutable_session_affinity_config()->mutable_client_ip();
    if (!client.has_timeout_seconds()) client.set_timeout_seconds(affinity_timeout_seconds);
  } else {
    spec.clear_session_affinity_config();
  }
  default_traffic(spec);
}

void complete(Secret& secret) {
  for (const auto& [key, text] : secret.string_data())
    (*secret.mutable_data())[key] = text;
  secret.clear_string_data();
}

void complete(Namespace& ns) {
  // Kubernetes, core/v1 LabelMetadataName: namespaces can be selected by name.
  if (!ns.metadata().name().empty())
    (*ns.mutable_metadata()->mutable_labels())["kubernetes.io/metadata.name"] =
        ns.metadata().name();
}

void complete(Node& node) {
  if (!node.has_status()) return;
  auto& status = *node.mutable_status();
  if (status.allocatable().empty()) *status.mutable_allocatable() = status.capacity();
}

void set_defaults(const kind_info& kind, body& content) {
  set_schema_defaults(content);
  if (const auto complete = kind.row().complete) complete(content);
}

}  // namespace troupe::api
