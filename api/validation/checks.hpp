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
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

using label_map = google::protobuf::Map<std::string, std::string>;
using quantity_map = google::protobuf::Map<std::string, resource::Quantity>;

// -- rules of the schema ---
// Skips the status of a kind, which only the server and controllers write.
void check_rules(field_errors& out, const google::protobuf::Message& message, bool is_object);
void check_immutable(field_errors& out, const google::protobuf::Message& now,
                     const google::protobuf::Message& was);

// -- metadata; `out.at` is the path of the object ---
void check_meta(field_errors& out, const kind_info& kind, const meta::v1::ObjectMeta& meta);
void check_meta_update(field_errors& out, const meta::v1::ObjectMeta& now,
                       const meta::v1::ObjectMeta& was);
// Finalizers of built-in kinds have a domain, or are standard ones. Those that `was` (may be null)
// has already are accepted: stores of before have them.
void check_new_finalizers(field_errors& out, const kind_info& kind, const meta::v1::ObjectMeta& now,
                          const meta::v1::ObjectMeta* was);
void check_labels(field_errors& out, std::string_view field, const label_map& labels);
void check_annotations(field_errors& out, const label_map& annotations);
void check_label_selector(field_errors& out, const meta::v1::LabelSelector& selector);

// -- pods; `out.at` is the path of the spec ---
void check_pod_spec(field_errors& out, const core::v1::PodSpec& spec);
// For a template: labels, annotations, the spec, and the fields allowed only in a pod.
void check_pod_template(field_errors& out, const core::v1::PodTemplateSpec& made_from);
void check_pod_update(field_errors& out, const core::v1::Pod& now, const core::v1::Pod& was);
// For a write of pods/resize; `out.at` is the path of the pod.
void check_pod_resize(field_errors& out, const core::v1::Pod& now, const core::v1::Pod& was);
void check_containers(field_errors& out, const core::v1::PodSpec& spec);
void check_ephemeral_containers(field_errors& out, const core::v1::PodSpec& spec);
void check_volumes(field_errors& out, const core::v1::PodSpec& spec);
void check_scheduling(field_errors& out, const core::v1::PodSpec& spec);

// -- containers ---
enum class container_role { main, init, ephemeral };
void check_container(field_errors& out, const core::v1::PodSpec& spec,
                     const core::v1::Container& container, container_role role);
void check_env(field_errors& out, const core::v1::Container& container);
void check_probes(field_errors& out, const core::v1::Container& container, bool may_have);
void check_resources(field_errors& out, std::string_view field,
                     const core::v1::ResourceRequirements& resources);
// Of a pod or a runtime class. Upstream's paths name the limits of a container.
void check_overhead(field_errors& out, const quantity_map& amounts);
// Whether a quota may limit it; other names need a prefix, as in count/TYPE.
bool is_standard_quota(std::string_view name);
enum class resource_user { container, quota, any };
void check_resource_name(field_errors& out, const std::string& name, resource_user user);

// -- workloads; `out.at` is the path of the object ---
void check_workload(field_errors& out, const core::v1::ReplicationController& object);
void check_workload(field_errors& out, const apps::v1::ReplicaSet& object);
void check_workload(field_errors& out, const apps::v1::Deployment& object);

// -- services ---
void check_service(field_errors& out, const core::v1::Service& service);
void check_service_create(field_errors& out, const core::v1::Service& service);
void check_service_update(field_errors& out, const core::v1::Service& now,
                          const core::v1::Service& was);
void check_endpoints(field_errors& out, const core::v1::Endpoints& endpoints);

// -- config maps and secrets ---
void check_config(field_errors& out, const core::v1::ConfigMap& config);
void check_config(field_errors& out, const core::v1::Secret& secret);
void check_config_update(field_errors& out, const core::v1::ConfigMap& now,
                         const core::v1::ConfigMap& was);
void check_config_update(field_errors& out, const core::v1::Secret& now,
                         const core::v1::Secret& was);

// -- whole objects of kinds with few rules ---
void check(field_errors& out, const core::v1::Pod& pod);
void check(field_errors& out, const core::v1::PodTemplate& object);
void check(field_errors& out, const core::v1::Node& node);
void check(field_errors& out, const core::v1::Namespace& ns);
void check(field_errors& out, const core::v1::Event& event);
void check(field_errors& out, const core::v1::Binding& binding);
void check(field_errors& out, const coordination::v1::Lease& object);
void check(field_errors& out, const scheduling::v1::PriorityClass& object);
void check_create(field_errors& out, const core::v1::Pod& pod);
// For an event in the form of events.k8s.io.
void check_create(field_errors& out, const events::v1::Event& event);
void check_update(field_errors& out, const core::v1::Node& now, const core::v1::Node& was);

}  // namespace troupe::api::validation
