// The whole front of a node: keys and certificates, users, limits, health, and the listeners with
// the API behind them. What the program starts, and the REST API is given to.
//
// Owns a thread that keeps certificates and tokens fresh. Thread safe after start().
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "server/authentication.hpp"
#include "server/authorization.hpp"
#include "server/health.hpp"
#include "server/http_server.hpp"
#include "server/join/node_signer.hpp"
#include "server/tls_identity.hpp"

namespace troupe::server {

struct front_options {
  endpoint listen{"127.0.0.1", 6443};
  // Plain HTTP without users, for the clients of 2014. Absent: not served.
  std::optional<endpoint> legacy_listen;
  // Holds pki/ and admin.kubeconfig.
  std::filesystem::path data_dir;
  // More names that the server is called by.
  std::vector<std::string> names;
  http_options http;
  std::size_t reads_in_flight = defaults::reads_in_flight;
  std::size_t writes_in_flight = defaults::writes_in_flight;
  std::chrono::milliseconds renew_period = defaults::renew_period;
  std::chrono::milliseconds certificate_life = defaults::certificate_life;
};

// What serves behind the gate, and what else decides about users. All outlive the front.
struct front_parts {
  handler* api = nullptr;
  handler* legacy_api = nullptr;  // needed where legacy_listen is given
  health_checks* health = nullptr;
  std::vector<std::shared_ptr<const token_source>> tokens;
  authorization permissions{{}};
  // Given the authority at the start and when it is renewed; may be null.
  std::shared_ptr<node_signer> signer = nullptr;
  // Served at data_dir/console.sock to who may open that; may be null.
  handler* console = nullptr;
};

class front {
 public:
  // Serves when it returns. The error is one line for the user.
  static tl::expected<std::unique_ptr<front>, std::string> start(front_options options,
                                                                 front_parts parts);
  ~front();
  front(const front&) = delete;
  front& operator=(const front&) = delete;

  // With the actual port.
  const endpoint& where() const noexcept;
  const std::optional<endpoint>& legacy_where() const noexcept;
  std::filesystem::path kubeconfig_path() const;
  http_stats stats() const;
  // What the listener shows and trusts now: for other listeners of this node, asked for at each
  // handshake.
  tls_material identity() const;

  // As http_server::stop.
  void stop();

 private:
  class impl;
  explicit front(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
