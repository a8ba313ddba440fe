// The dialer's end of a call.
#pragma once

#include <grpcpp/channel.h>

#include <memory>

#include "runtime/link/transport/conversation.hpp"

namespace troupe::runtime::link {

// Calls the other side and begins the conversation; it is over at the latest when this attempt has
// taken too long.
void call(const std::shared_ptr<grpc::Channel>& through, std::shared_ptr<conversation> with);

}  // namespace troupe::runtime::link
