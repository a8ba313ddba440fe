// The use of gRPC in this room: its start with the first link of the process, and the settings that
// both sides share.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

// Starts gRPC once; its log goes to ours at debug level. It runs until the process ends: stopping
// it with the last link would only cost threads.
void use_library();

void set_up(grpc::ServerBuilder& builder);
// Creates a separate channel with the current credentials; not connected yet.
std::shared_ptr<grpc::Channel> make_channel(const address& to, const credentials& with);

// Mutual TLS 1.2 or later; reads the source at each handshake. `source` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> make_server_credentials(const credentials_source& source);

// The peer from the certificate that TLS has verified.
tl::expected<peer, std::string> peer_of(const grpc::AuthContext& verified, const std::string& uri);

}  // namespace troupe::runtime::link
