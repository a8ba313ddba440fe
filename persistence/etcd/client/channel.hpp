// The gRPC channel to one member of etcd.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "persistence/etcd/client/credentials.hpp"
#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

// Whether the endpoint is called with TLS, and so with credentials.
bool is_secure(const std::string& endpoint);

// One channel per endpoint: a shared one would check the list against the certificate's name. A
// channel keeps its credentials for all its connections.
expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const credentials& shown);
// With what the files contain now.
expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const etcd_options& options);

}  // namespace troupe::persistence::etcd
