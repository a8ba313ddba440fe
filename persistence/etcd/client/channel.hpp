// The gRPC channel to one member of etcd.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

// One channel per endpoint: a shared one would check the list against the certificate's name.
expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const etcd_options& options);

}  // namespace troupe::persistence::etcd
