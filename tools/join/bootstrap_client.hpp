// Calls the control plane before this machine has credentials: it knows an address and the hash of
// the cluster's authority. It sends a token only after the server has proved who it is.
//
// Blocks, never longer than until the deadline. Errors are one line with the reason and the remedy.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/join/server_trust.hpp"

namespace troupe::tools {

// What is said about a server that cannot be used.
struct server_words {
  const char* listens;     // by which command it listens
  const char* port;        // which of its ports
  const char* line;        // what prints the line for it
  const char* names_flag;  // by which it gets another name
};
inline constexpr server_words control_plane_words{"troupe node --listen",
                                                  "the HTTPS port of the API (by default 6443)",
                                                  "troupe token create", "--server-names"};

class bootstrap_client {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // Looks at who is there: a Troupe server with that authority, called by a name of its own, whose
  // clock goes like ours.
  static tl::expected<bootstrap_client, std::string> make(
      const std::string& address, const std::string& authority_hash, time_point deadline,
      const server_words& words = control_plane_words);

  // The authority of the cluster, PEM.
  const std::string& authority() const noexcept { return authority_; }

  // On a connection of its own, whose server is looked at again before the token is sent.
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
