// The node's keys and certificates: an authority of its own, and what it signs for the server and
// for the administrator. Made at the first start, kept in files, renewed when less than
// `defaults::renew_below` of their life is left.
//
// Files in the directory (0700), each 0600: ca.crt ca.key server.crt server.key admin.crt
// admin.key front-proxy-ca.crt front-proxy-ca.key front-proxy-client.crt front-proxy-client.key.
// The authority is never replaced when its files are there but not usable: that would lock every
// client out, so it is an error that says which file and what to do. The others are simply made
// again. Not thread safe: belongs to whoever opened it.
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
  // By which clients call the server, in addition to localhost, 127.0.0.1, ::1 and the host's name.
  std::vector<std::string> names;
  // Of what the authority signs here.
  std::chrono::milliseconds life = defaults::certificate_life;
};

class pki {
 public:
  using time_point = x509::time_point;

  static tl::expected<std::unique_ptr<pki>, std::string> open(pki_options options, time_point now);

  // Makes what is missing, expires soon, or does not fit any more; true when something changed.
  tl::expected<bool, std::string> renew(time_point now);

  // From the next renewal on, in place of those of the options.
  void names(const std::vector<std::string>& extra);

  // With its key: to sign what others hold.
  const x509::identity& signer() const noexcept { return authority_; }
  const std::string& authority() const noexcept { return authority_.certificate; }
  const x509::identity& administrator() const noexcept { return administrator_; }
  // By which servers of aggregated APIs know this one. Of an authority of its own: no client of the
  // cluster can get a certificate of it. Empty before the first renew_front_proxy().
  front_proxy_credentials front_proxy() const { return {front_authority_.certificate, front_}; }
  tls_material server() const;

  // As renew(), which leaves it out: no start has to wait for it.
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
