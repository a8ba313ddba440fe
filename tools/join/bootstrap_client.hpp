// Calls the control plane before this machine has credentials: it knows an address and the hash of
// the cluster's authority. It sends a token only after the server has proved its identity.
//
// Blocks, at most until the deadline. Errors are one line with the reason and the remedy.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/join/server_trust.hpp"

namespace troupe::tools {

// Words for errors about a server that cannot be used.
struct server_words {
  const char* listens;     // the command that makes it listen
  const char* port;        // which of its ports to use
  const char* line;        // the command that prints the join line
  const char* names_flag;  // the flag that sets another name
};
inline constexpr server_words control_plane_words{"troupe node --listen",
                                                  "the HTTPS port of the API (by default 6443)",
                                                  "troupe token create", "--server-names"};

class bootstrap_client {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // Checks the server: it must be a Troupe server with that authority and a certificate for the
  // called name, and its clock must agree with ours.
  static tl::expected<bootstrap_client, std::string> make(
      const std::string& address, const std::string& authority_hash, time_point deadline,
      const server_words& words = control_plane_words);

  // The authority of the cluster, PEM.
  const std::string& authority() const noexcept { return authority_; }

  // Uses a connection of its own, and checks the server again before it sends the token.
  tl::expected<client_answer, std::string> post(const std::string& path, const std::string& token,
                                                const std::string& body) const;

 private:
  bootstrap_client(host_and_port to, std::string hash, time_point deadline,
                   const server_words& words)
      : to_{std::move(to)}, hash_{std::move(hash)}, deadline_{deadline}, words_{words} {}

  host_and_port to_;
  std::string hash_;
  time_point deadline_;
  server_words words_;
  std::string authority_;
};

}  // namespace troupe::tools
