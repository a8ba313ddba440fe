// Validation functions that call each other; for files of this folder.
#pragma once

#include <google/protobuf/map.h>

#include "api/kind.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_binding.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/events_v1.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/validation/findings.hpp"

namespace troupe::api::validation {

using label_map = google::protobuf::Map<std::string, std::string>;
using quantity_map = google::protobuf::Map<std::string, resource::Quantity>;

// -- rules of the schema ---
// Skips the status of a kind, which only the server and controllers write.
void check_rules(findings& out, const google::protobuf::Message& message, bool is_object);
void check_immutable(findings& out, const google::protobuf::Message& now,
                     const google::protobuf::Message& was);

// -- metadata; `out.at` is the path of the object ---
void check_meta(findings& out, const kind_info& kind, const meta::v1::ObjectMeta& meta);
void check_meta_update(findings& out, const meta::v1::ObjectMeta& now,
                       const meta::v1::ObjectMeta& was);
void check_labels(findings& out, std::string_view field, const label_map& labels);
void check_annotations(findings& out, const label_map& annotations);
void check_label_selector(findings& out, const meta::v1::LabelSelector& selector);

// -- pods; `out.at` is the path of the spec ---
void check_pod_spec(findings& out, const core::v1::PodSpec& spec);
// For a template: labels, annotations, the spec, and the fields allowed only in a pod.
void check_pod_template(findings& out, const core::v1::PodTemplateSpec& made_from);
void check_pod_update(findings& out, const core::v1::Pod& now, const core::v1::Pod& was);
// For a write of pods/resize; `out.at` is the path of the pod.
void check_pod_resize(findings& out, const core::v1::Pod& now, const core::v1::Pod& was);
void check_containers(findings& out, const core::v1::PodSpec& spec);
void check_ephemeral_containers(findings& out, const core::v1::PodSpec& spec);
void check_volumes(findings& out, const core::v1::PodSpec& spec);
void check_scheduling(findings& out, const core::v1::PodSpec& spec);

// -- containers ---
enum class container_role { main, init, ephemeral };
void check_container(findings& out, const core::v1::PodSpec& spec,
                     const core::v1::Container& container, container_role role);
void check_env(findings& out, const core::v1::Container& container);
void check_probes(findings& out, const core::v1::Container& container, bool may_have);
void check_resources(findings& out, std::string_view field,
                     const core::v1::ResourceRequirements& resources);
// Of a pod or a runtime class. Upstream's paths name the limits of a container.
void check_overhead(findings& out, const quantity_map& amounts);
// Whether a quota may limit it; other names need a prefix, as in count/TYPE.
bool is_standard_quota(std::string_view name);
enum class resource_user { container, quota, any };
void check_resource_name(findings& out, const std::string& name, resource_user user);

// -- workloads; `out.at` is the path of the object ---
void check_workload(findings& out, const core::v1::ReplicationController& object);
void check_workload(findings& out, const apps::v1::ReplicaSet& object);
void check_workload(findings& out, const apps::v1::Deployment& object);

// -- services ---
void check_service(findings& out, const core::v1::Service& service);
void check_service_create(findings& out, const core::v1::Service& service);
void check_service_update(findings& out, const core::v1::Service& now,
                          const core::v1::Service& was);
void check_endpoints(findings& out, const core::v1::Endpoints& endpoints);

// -- config maps and secrets ---
void check_config(findings& out, const core::v1::ConfigMap& config);
void check_config(findings& out, const core::v1::Secret& secret);
void check_config_update(findings& out, const core::v1::ConfigMap& now,
                         const core::v1::ConfigMap& was);
void check_config_update(findings& out, const core::v1::Secret& now, const core::v1::Secret& was);

// -- whole objects of kinds with few rules ---
void check(findings& out, const core::v1::Pod& pod);
void check(findings& out, const core::v1::PodTemplate& object);
void check(findings& out, const core::v1::Node& node);
void check(findings& out, const core::v1::Namespace& ns);
void check(findings& out, const core::v1::Event& event);
void check(findings& out, const core::v1::Binding& binding);
void check(findings& out, const coordination::v1::Lease& object);
void check(findings& out, const scheduling::v1::PriorityClass& object);
void check_create(findings& out, const core::v1::Pod& pod);
// For an event in the form of events.k8s.io.
void check_create(findings& out, const events::v1::Event& event);
void check_update(findings& out, const core::v1::Node& now, const core::v1::Node& was);

}  // namespace troupe::api::validation
