// The file that lets kubectl and client libraries in: everything embedded, one context "troupe".
#pragma once

#include <string>
#include <string_view>

#include "server/http_server.hpp"
#include "server/x509.hpp"

namespace troupe::server {

// The text of the file. A server that listens on all addresses is called by loopback.
std::string kubeconfig(const endpoint& server, std::string_view authority,
                       const x509::identity& client);

std::string base64(std::string_view bytes);

}  // namespace troupe::server
