// The client side of a call.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "runtime/link/transport/stream_session.hpp"

namespace troupe::runtime::link {

// Calls the server and starts the session, which ends after `defaults::attempt_limit` without an
// answer.
void start_client_call(const std::shared_ptr<grpc::Channel>& channel,
                       std::shared_ptr<stream_session> session);

}  // namespace troupe::runtime::link
