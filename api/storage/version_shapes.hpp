// Stored versions whose protobuf differs from that of the version that this program stores.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

struct version_shape {
  const google::protobuf::Descriptor& type;
  // `home` is empty.
  void (*read)(const body& stored, body& home);
  // `stored` is empty.
  void (*write)(const body& home, body& stored);
};

const version_shape& ingress_v1beta1_shape();
const version_shape& endpoint_slice_v1beta1_shape();
const version_shape& budget_v1beta1_shape();
const version_shape& autoscaler_v1_shape();

}  // namespace troupe::api
