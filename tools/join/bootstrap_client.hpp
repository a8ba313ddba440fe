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

class bootstrap_client {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // Looks at who is there: a Troupe server with that authority, called by a name of its own, whose
  // clock goes like ours.
  static tl::expected<bootstrap_client, std::string> make(const std::string& address,
                                                          const std::string& authority_hash,
                                                          time_point deadline);

  // The authority of the cluster, PEM.
  const std::string& authority() const noexcept { return authority_; }

  // On a connection of its own, whose server is looked at again before the token is sent.
  tl::expected<client_answer, std::string> post(const std::string& path, const std::string& token,
                                                const std::string& body) const;

 private:
  bootstrap_client(host_and_port to, std::string hash, time_point deadline)
      : to_{std::move(to)}, hash_{std::move(hash)}, deadline_{deadline} {}

  host_and_port to_;
  std::string hash_;
  time_point deadline_;
  std::string authority_;
};

}  // namespace troupe::tools
