// The server side of a call.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "runtime/link/transport/stream_session.hpp"

namespace troupe::runtime::link {

// Starts the session on this call. gRPC owns the returned reactor.
grpc::ServerBidiReactor<Packet, Packet>* start_server_call(grpc::CallbackServerContext& call,
                                                           std::shared_ptr<stream_session> session);
// Ends a call without a session.
grpc::ServerBidiReactor<Packet, Packet>* refuse_call(const std::string& reason);

}  // namespace troupe::runtime::link
