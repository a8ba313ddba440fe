// Whether a server is the one that a join line means: pure, from the certificates that it shows.
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

enum class distrust {
  no_certificate,
  other_authority,  // none of those shown has that hash
  not_signed,       // the authority has not signed the server's certificate
  other_name,       // the certificate is good, for other names
};

struct trusted_server {
  std::string authority;  // PEM
};

// `chain` as PEM, the server's own first; `authority_hash` is "sha256:…" of the authority's key.
// Times are not looked at: whose clock is wrong is another question, with an answer of its own.
tl::expected<trusted_server, distrust> check_server(const std::vector<std::string>& chain,
                                                    const std::string& authority_hash,
                                                    const std::string& host);

// The names and addresses that a certificate is for, "127.0.0.1, node.example".
std::string names_in(const std::string& certificate);

}  // namespace troupe::tools
