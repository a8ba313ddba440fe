// The connection with one member of etcd.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

// A channel for each: one for all of them would take the list for the name in the certificate.
expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const etcd_options& options);

}  // namespace troupe::persistence::etcd
