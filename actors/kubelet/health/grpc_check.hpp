// One request to a gRPC health service: grpc.health.v1.Health/Check without TLS (kubernetes:
// pkg/probe/grpc). Blocks: not for actor threads.
#pragma once

#include "actors/kubelet/health/health_check.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Success means the status SERVING. Returns within `timeout`, or as soon as the descriptor `cancel`
// becomes readable.
health_result grpc_check(const grpc_action& check, runtime::duration timeout, int cancel = -1);

}  // namespace troupe::actors
