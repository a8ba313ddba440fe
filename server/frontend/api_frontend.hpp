// The node's public HTTP front end: keys and certificates, users, limits, health, and the listeners
// in front of the API. The program starts it and passes it the REST API.
//
// Owns a thread that renews certificates and tokens. Thread safe after start().
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
  // Plain HTTP without authentication, for clients of 2014. Nullopt: not served.
  std::optional<endpoint> legacy_listen;
  // Has pki/ and admin.kubeconfig.
  std::filesystem::path data_dir;
  // False: requests without credentials get a 401 on every path.
  bool anonymous_access = true;
  // Further names of the server, for its certificate.
  std::vector<std::string> names;
  http_options http;
  std::size_t reads_in_flight = defaults::reads_in_flight;
  std::size_t writes_in_flight = defaults::writes_in_flight;
  std::chrono::milliseconds renew_period = defaults::renew_period;
  std::chrono::milliseconds certificate_lifetime = defaults::certificate_lifetime;
};

// The handlers behind auth_filter, and further sources of users and permissions. All must outlive
// the api_frontend.
struct frontend_parts {
  handler* api = nullptr;
  handler* legacy_api = nullptr;  // required with legacy_listen
  health_checks* health = nullptr;
  std::vector<std::shared_ptr<const token_source>> tokens;
  authorization permissions{{}};
  std::shared_ptr<const certificate_check> certificates = nullptr;  // may be null
  // Gets the authority at the start and at each renewal; may be null.
  std::shared_ptr<node_signer> signer = nullptr;
  // Called with the authority's certificates at the start and at each renewal; may be empty.
  std::function<void(const std::string& certificates)> authority = {};
  // Called with the front proxy's credentials soon after the start and at each renewal, on a thread
  // that it may block; may be empty. If it returns false it is called again after renew_period.
  std::function<bool(front_proxy_credentials credentials)> front_proxy = {};
  // Gets the authenticator; may be null.
  token_reviewer* reviewer = nullptr;
  // Served at data_dir/console.sock to users who may open that socket; may be null.
  handler* console = nullptr;
  // Keys from open_keys() for the same options; null: start() opens them.
  std::unique_ptr<pki> keys = nullptr;
};

class api_frontend {
 public:
  // Opens the keys and certificates in data_dir, and creates missing ones: for callers that need
  // them before start(), on any thread.
  static tl::expected<std::unique_ptr<pki>, std::string> open_keys(const frontend_options& options);

  // Serves when it returns. The error is one line for the user.
  static tl::expected<std::unique_ptr<api_frontend>, std::string> start(frontend_options options,
                                                                        frontend_parts parts);
  ~api_frontend();
  api_frontend(const api_frontend&) = delete;
  api_frontend& operator=(const api_frontend&) = delete;

  // Serves the same as at the address of the options, with the same certificate and checks, at
  // another address, which the certificate should name. Not after stop(). See http_server::listen.
  tl::expected<endpoint, std::string> listen(const endpoint& also);

  // Has the actual port.
  const endpoint& address() const noexcept;
  const std::optional<endpoint>& legacy_address() const noexcept;
  http_stats stats() const;
  // See http_server::note_refusal.
  void note_refusal(const refusal& refusal);
  // The listener's current certificates, for other listeners of this node, which ask at each
  // handshake.
  tls_material identity() const;

  // See http_server::stop.
  void stop();

 private:
  class impl;
  explicit api_frontend(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
