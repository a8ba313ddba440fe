// The listener's end of a call.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "runtime/link/transport/conversation.hpp"

namespace troupe::runtime::link {

// Begins the conversation on this call. gRPC owns what is returned.
grpc::ServerBidiReactor<Packet, Packet>* be_called(grpc::CallbackServerContext& call,
                                                   std::shared_ptr<conversation> with);
// Ends a call that has no conversation.
grpc::ServerBidiReactor<Packet, Packet>* turn_away(const std::string& reason);

}  // namespace troupe::runtime::link
