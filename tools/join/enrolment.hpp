// How a machine becomes a node of a cluster: it makes a key, asks for a certificate with a token,
// keeps both. And how a node gets its next certificate.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/join/credentials.hpp"

namespace troupe::tools {

// What a join line says.
struct join_line {
  std::string address;         // HOST:PORT
  std::string token;           // ID.SECRET
  std::string authority_hash;  // "sha256:…"
};

// What of the line has not its form, and what to do.
tl::expected<void, std::string> check_join_line(const join_line& line);

// Ends within `join_defaults::total_limit`. The key is in the folder before anything is asked, so
// that an attempt which was cut short is found again by the control plane; all else is there when
// this returns. Errors are one line with the reason and the remedy.
tl::expected<joined_credentials, std::string> enrol(const join_line& line, const std::string& node,
                                                    const join_folder& into);

// With the certificate that is held, for the same key.
tl::expected<joined_credentials, std::string> renew(const joined_credentials& held);

// The control plane that a node has joined, with the node's certificate.
tl::expected<std::unique_ptr<cluster_client>, std::string> connect_as_node(
    const joined_credentials& held);

}  // namespace troupe::tools
