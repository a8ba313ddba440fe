// Write rules of the workload kinds except ReplicaSet and Deployment (special_kinds.hpp), and of
// autoscalers and disruption budgets, by type; for the table of rows (kinds/).
#pragma once

#include "api/schema/apps_sets.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/batch_v1.pb.h"

namespace troupe::api {

// -- defaults that are computed; kubernetes: pkg/apis/*/v1/defaults.go ----------------------------

void complete(apps::v1::DaemonSet& object);
void complete(apps::v1::StatefulSet& object);
void complete(batch::v1::Job& object);
void complete(batch::v1::CronJob& object);
void complete(autoscaling::v2::HorizontalPodAutoscaler& object);

// -- jobs -----------------------------------------------------------------------------------------

// Sets the selector of a new job by its uid, unless its author has set one.
void begin(batch::v1::Job& object);

}  // namespace troupe::api
