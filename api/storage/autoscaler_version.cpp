// HorizontalPodAutoscaler in autoscaling/v1, where upstream keeps the rest in annotations
// (conversion/autoscaler_annotations.hpp).
#include "api/storage/autoscaler_version.hpp"

#include "api/conversion/shapes.hpp"
#include "api/equality.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

namespace {

using autoscaling::v2::HorizontalPodAutoscaler;
using old_autoscaler = autoscaling::v1::HorizontalPodAutoscaler;

void read(const body& stored, body& home) {
  *static_cast<HorizontalPodAutoscaler&>(home).mutable_metadata() =
      static_cast<const old_autoscaler&>(stored).metadata();
  autoscaler_shape.take(stored, home);
}

void write(const body& home, body& stored) {
  *static_cast<old_autoscaler&>(stored).mutable_metadata() =
      static_cast<const HorizontalPodAutoscaler&>(home).metadata();
  autoscaler_shape.show(home, stored);
}

}  // namespace

bool fits_autoscaling_v1(const HorizontalPodAutoscaler& autoscaler) {
  old_autoscaler stored;
  write(autoscaler, stored);
  HorizontalPodAutoscaler again;
  read(stored, again);
  return same_meaning(again, autoscaler);
}

const version_shape& autoscaler_v1_shape() {
  static const version_shape made{*old_autoscaler::descriptor(), &read, &write};
  return made;
}

}  // namespace troupe::api
