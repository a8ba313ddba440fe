// Everything a node serves to the outside: keys and certificates, users, limits, health, and the
// listeners with the API behind them. What the program starts, and the REST API is given to.
//
// Owns a thread that keeps certificates and tokens fresh. Thread safe after start().
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "server/access/authentication.hpp"
#include "server/access/authorization.hpp"
#include "server/connections/http_server.hpp"
#include "server/credentials/pki.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/frontend/health.hpp"
#include "server/join/node_signer.hpp"

namespace troupe::server {

struct frontend_options {
  endpoint listen{"127.0.0.1", 6443};
  // Plain HTTP without users, for the clients of 2014. Absent: not served.
  std::optional<endpoint> legacy_listen;
  // Holds pki/ and admin.kubeconfig.
  std::filesystem::path data_dir;
  // False: who presents no credentials gets a 401 whatever the path.
  bool anonymous_access = true;
  // More names that the server is called by.
  std::vector<std::string> names;
  http_options http;
  std::size_t reads_in_flight = defaults::reads_in_flight;
  std::size_t writes_in_flight = defaults::writes_in_flight;
  std::chrono::milliseconds renew_period = defaults::renew_period;
  std::chrono::milliseconds certificate_life = defaults::certificate_life;
};

// The handlers behind auth_filter, and further sources of users and permissions. All outlive the
// api_frontend.
struct frontend_parts {
  handler* api = nullptr;
  handler* legacy_api = nullptr;  // needed where legacy_listen is given
  health_checks* health = nullptr;
  std::vector<std::shared_ptr<const token_source>> tokens;
  authorization permissions{{}};
  std::shared_ptr<const certificate_check> certificates = nullptr;  // may be null
  // Given the authority at the start and when it is renewed; may be null.
  std::shared_ptr<node_signer> signer = nullptr;
  // Told of the certificates of the authority at the start and when they are renewed; may be empty.
  std::function<void(const std::string& certificates)> authority = {};
  // Told of the credentials of the front proxy soon after the start and when they are renewed, on a
  // thread that it may hold up; may be empty. False: told again after renew_period.
  std::function<bool(front_proxy_credentials credentials)> front_proxy = {};
  // Given the authenticator; may be null.
  token_reviewer* reviewer = nullptr;
  // Served at data_dir/console.sock to who may open that; may be null.
  handler* console = nullptr;
  // As open_keys() gave them for the same options; null: start() opens them.
  std::unique_ptr<pki> keys = nullptr;
};

class api_frontend {
 public:
  // The keys and certificates under data_dir, made where missing: for who starts with them, and on
  // any thread.
  static tl::expected<std::unique_ptr<pki>, std::string> open_keys(const frontend_options& options);

  // Serves when it returns. The error is one line for the user.
  static tl::expected<std::unique_ptr<api_frontend>, std::string> start(frontend_options options,
                                                                        frontend_parts parts);
  ~api_frontend();
  api_frontend(const api_frontend&) = delete;
  api_frontend& operator=(const api_frontend&) = delete;

  // With the actual port.
  const endpoint& address() const noexcept;
  const std::optional<endpoint>& legacy_address() const noexcept;
  std::filesystem::path kubeconfig_path() const;
  http_stats stats() const;
  // As http_server::note_refusal.
  void note_refusal(const refusal& refusal);
  // The certificates of the listener now: for other listeners of this node, asked for at each
  // handshake.
  tls_material identity() const;

  // As http_server::stop.
  void stop();

 private:
  class impl;
  explicit api_frontend(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
