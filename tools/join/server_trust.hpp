// Checks that a server is the one that a join command names: pure, from its certificates.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::tools {

// HOST:PORT or [HOST]:PORT.
struct host_and_port {
  std::string host;
  int port = 0;
};
tl::expected<host_and_port, std::string> parse_host_and_port(const std::string& text);

enum class trust_error {
  no_certificate,
  other_authority,  // no certificate in the chain has that hash
  not_signed,       // the authority has not signed the server's certificate
  other_name,       // the certificate is valid, but for other names
};

struct trusted_server {
  std::string authority;  // PEM
};

// `chain` as PEM, the server's own first; `authority_hash` is "sha256:…" of the authority's key.
// Ignores validity times: a wrong clock is checked separately, with an error of its own.
tl::expected<trusted_server, trust_error> check_server(const std::vector<std::string>& chain,
                                                       const std::string& authority_hash,
                                                       const std::string& host);

// The names and addresses that a certificate is valid for, "127.0.0.1, node.example".
std::string names_in(const std::string& certificate);

}  // namespace troupe::tools
