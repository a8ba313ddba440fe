// Write rules of the kinds with special behaviour, by type, and their common functions; for files
// of this folder and the table of rows (kinds/, kind_row.hpp).
#pragma once

#include <cstdint>

#include "api/kind.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/strategy/strategy.hpp"

namespace troupe::api {

// -- shared ---------------------------------------------------------------------------------------

void clear_status(body& content);
// Whether all fields except metadata and status are semantically equal.
bool same_but_status(const body& now, const body& was);
// For a pod, or a pod template.
void default_pod_spec(core::v1::PodSpec& spec);

// -- defaults that are computed -------------------------------------------------------------------

void complete(core::v1::Pod& pod);
void complete(core::v1::PodTemplate& object);
void complete(core::v1::ReplicationController& object);
void complete(apps::v1::ReplicaSet& object);
void complete(apps::v1::Deployment& object);
void complete(core::v1::Service& service);
void complete(core::v1::Secret& secret);
void complete(core::v1::Namespace& ns);
void complete(core::v1::Node& node);

// -- pods -----------------------------------------------------------------------------------------

deletion_plan plan_delete(const kind_info& kind, const core::v1::Pod& stored,
                          const meta::v1::DeleteOptions& options, std::int64_t now_seconds);

// -- deployments ----------------------------------------------------------------------------------

// Annotations of a deployment are copied to its replica sets: they are part of the desired state.
bool same_desired_state(const apps::v1::Deployment& now, const apps::v1::Deployment& was);

// -- namespaces -----------------------------------------------------------------------------------

// Active, with the finalizer "kubernetes".
void begin(core::v1::Namespace& ns);
deletion_plan plan_delete(const core::v1::Namespace& stored, std::int64_t now_seconds);

// -- custom kinds ---------------------------------------------------------------------------------

void begin_custom(const kind_info& kind, body& content);
void keep_custom_status(const kind_info& kind, body& now, const body& was);
// All fields except metadata, and except the status if the kind has that subresource.
bool same_custom_desired_state(const kind_info& kind, const body& now, const body& was);
void keep_all_but_custom_status(body& now, const body& was);

}  // namespace troupe::api
