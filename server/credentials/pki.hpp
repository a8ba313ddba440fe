// The node's keys and certificates: its own authority, and the server's and administrator's
// certificates signed by it. Created at the first start, stored in files, renewed when less than
// `defaults::renew_below` of their life is left.
//
// Files in the directory (0700), each 0600: ca.crt ca.key server.crt server.key admin.crt
// admin.key front-proxy-ca.crt front-proxy-ca.key front-proxy-client.crt front-proxy-client.key.
// An unusable authority is never replaced, because that would lock every client out: it is an error
// that names the file and the remedy. The others are recreated. Not thread safe: belongs to its
// owner's thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "server/credentials/front_proxy.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"
#include "server/defaults.hpp"

namespace troupe::server {

struct pki_options {
  std::filesystem::path directory;
  // Names by which clients call the server, besides localhost, 127.0.0.1, ::1 and the host name.
  std::vector<std::string> names;
  // The life of certificates signed here.
  std::chrono::milliseconds lifetime = defaults::certificate_lifetime;
};

class pki {
 public:
  using time_point = x509::time_point;

  static tl::expected<std::unique_ptr<pki>, std::string> open(pki_options options, time_point now);

  // Creates certificates that are missing, expire soon or do not match; true if any
  // changed.
  tl::expected<bool, std::string> renew(time_point now);

  // Replaces the names of the options from the next renewal on.
  void names(const std::vector<std::string>& extra);

  // With its private key, to sign certificates of others.
  const x509::identity& signer() const noexcept { return authority_; }
  const std::string& authority() const noexcept { return authority_.certificate; }
  const x509::identity& administrator() const noexcept { return administrator_; }
  // The credentials that servers of aggregated APIs accept, from a separate authority:
  // no client of the cluster can get such a certificate. Empty before
  // renew_front_proxy().
  front_proxy_credentials front_proxy() const { return {front_authority_.certificate, front_}; }
  tls_material server() const;

  // As renew(), which does not include it, so that a start does not wait for it.
  tl::expected<bool, std::string> renew_front_proxy(time_point now);

 private:
  explicit pki(pki_options options);

  const pki_options options_;
  std::vector<std::string> names_;
  x509::identity authority_;
  x509::identity server_;
  x509::identity administrator_;
  x509::identity front_authority_, front_;
};

}  // namespace troupe::server
