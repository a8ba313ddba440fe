// The annotations in which upstream keeps what autoscaling/v1 cannot say of an autoscaler: metrics
// other than cpu utilization, measured values and conditions as JSON in the names of v1, behavior
// as JSON with Go's field names.
//
// kubernetes: pkg/apis/autoscaling/v1/conversion.go.
#pragma once

#include <map>
#include <string>

#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

// The cpu utilization, for which autoscaling/v1 has a field; null: the autoscaler has none.
const autoscaling::v2::MetricSpec* find_cpu(const autoscaling::v2::HorizontalPodAutoscaler& of);

// The annotations of an autoscaler, by name.
using autoscaler_annotations = std::map<std::string, std::string>;
autoscaler_annotations annotations_of(const autoscaling::v2::HorizontalPodAutoscaler& home);

// Sets what the annotations of `written` say. `known`: annotations that change nothing, because
// the autoscaler has been shown with them. An annotation that cannot be read is ignored.
void take_annotations(const meta::v1::ObjectMeta& written, const autoscaler_annotations& known,
                      autoscaling::v2::HorizontalPodAutoscaler& home);

void remove_annotations(meta::v1::ObjectMeta& meta);

}  // namespace troupe::api
