// Stored versions whose protobuf differs from that of the version which this program keeps.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

struct version_shape {
  const google::protobuf::Descriptor& type;
  // `home` comes empty.
  void (*read)(const body& stored, body& home);
  // `stored` comes empty.
  void (*write)(const body& home, body& stored);
};

const version_shape& ingress_v1beta1_shape();
const version_shape& endpoint_slice_v1beta1_shape();
const version_shape& autoscaler_v1_shape();

}  // namespace troupe::api
